// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>):
  %0 = "weft.constant"() {value = 0.0 : f64, dtype = f32} : () -> tensor<f32>
  %1 = "weft.sub"(%x, %0) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xf32, #weft.dims<n>>
  %2 = "weft.constant"() {value = -0.0 : f64, dtype = f32} : () -> tensor<f32>
  %3 = "weft.sub"(%x, %2) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xf32, #weft.dims<n>>
  "weft.return"(%1, %3) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>):
    %0 = "weft.constant"() {value = 0.0 : f64, dtype = f32} : () -> tensor<f32>
    %1 = "weft.constant"() {value = -0.0 : f64, dtype = f32} : () -> tensor<f32>
    %2 = "weft.sub"(%x, %1) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xf32, #weft.dims<n>>
    "weft.return"(%x, %2) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
