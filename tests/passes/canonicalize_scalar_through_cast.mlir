// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<f32>, %y : tensor<?xf32, #weft.dims<n>>):
  %0 = "weft.positive"(%x) : (tensor<f32>) -> tensor<f32>
  %1 = "weft.cast"(%0) {to = f64} : (tensor<f32>) -> tensor<f64>
  %2 = "weft.positive"(%y) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  %3 = "weft.cast"(%2) {to = f64} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf64, #weft.dims<n>>
  "weft.return"(%1, %3) : (tensor<f64>, tensor<?xf64, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<f32>, %y : tensor<?xf32, #weft.dims<n>>):
    %0 = "weft.positive"(%x) : (tensor<f32>) -> tensor<f32>
    %1 = "weft.cast"(%0) {to = f64} : (tensor<f32>) -> tensor<f64>
    %2 = "weft.cast"(%y) {to = f64} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf64, #weft.dims<n>>
    "weft.return"(%1, %2) : (tensor<f64>, tensor<?xf64, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
