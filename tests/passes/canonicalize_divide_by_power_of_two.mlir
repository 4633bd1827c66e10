// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>):
  %0 = "weft.constant"() {value = 4.0 : f64, dtype = f32} : () -> tensor<f32>
  %1 = "weft.div"(%x, %0) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xf32, #weft.dims<n>>
  %2 = "weft.constant"() {value = -1.0 : f64, dtype = f32} : () -> tensor<f32>
  %3 = "weft.div"(%x, %2) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xf32, #weft.dims<n>>
  %4 = "weft.constant"() {value = 3.0 : f64, dtype = f32} : () -> tensor<f32>
  %5 = "weft.div"(%x, %4) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xf32, #weft.dims<n>>
  "weft.return"(%1, %3, %5) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>):
    %0 = "weft.constant"() {value = 4.0 : f64, dtype = f32} : () -> tensor<f32>
    %1 = "weft.constant"() {value = 0.25 : f64, dtype = f32} : () -> tensor<f32>
    %2 = "weft.mul"(%x, %1) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xf32, #weft.dims<n>>
    %3 = "weft.constant"() {value = -1.0 : f64, dtype = f32} : () -> tensor<f32>
    %4 = "weft.neg"(%x) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    %5 = "weft.constant"() {value = 3.0 : f64, dtype = f32} : () -> tensor<f32>
    %6 = "weft.div"(%x, %5) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xf32, #weft.dims<n>>
    "weft.return"(%2, %4, %6) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
