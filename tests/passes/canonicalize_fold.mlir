// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>):
  %0 = "weft.constant"() {value = 1.0 : f64, dtype = f32} : () -> tensor<f32>
  %1 = "weft.constant"() {value = 3.0 : f64, dtype = f32} : () -> tensor<f32>
  %2 = "weft.div"(%0, %1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %3 = "weft.mul"(%x, %2) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xf32, #weft.dims<n>>
  "weft.return"(%3) : (tensor<?xf32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>):
    %0 = "weft.constant"() {value = 1.0 : f64, dtype = f32} : () -> tensor<f32>
    %1 = "weft.constant"() {value = 3.0 : f64, dtype = f32} : () -> tensor<f32>
    %2 = "weft.constant"() {value = 0.3333333432674408 : f64, dtype = f32} : () -> tensor<f32>
    %3 = "weft.mul"(%x, %2) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xf32, #weft.dims<n>>
    "weft.return"(%3) : (tensor<?xf32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
