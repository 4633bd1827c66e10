// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>, %i : tensor<?xi32, #weft.dims<n>>):
  %0 = "weft.constant"() {value = 0.1 : f64, dtype = f64} : () -> tensor<f64>
  %1 = "weft.cast"(%0) {to = f32} : (tensor<f64>) -> tensor<f32>
  %2 = "weft.mul"(%x, %1) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xf32, #weft.dims<n>>
  %3 = "weft.constant"() {value = 1.0e+300 : f64, dtype = f64} : () -> tensor<f64>
  %4 = "weft.cast"(%3) {to = i32} : (tensor<f64>) -> tensor<i32>
  %5 = "weft.add"(%i, %4) : (tensor<?xi32, #weft.dims<n>>, tensor<i32>) -> tensor<?xi32, #weft.dims<n>>
  "weft.return"(%2, %5) : (tensor<?xf32, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>, %i : tensor<?xi32, #weft.dims<n>>):
    %0 = "weft.constant"() {value = 0.1 : f64, dtype = f64} : () -> tensor<f64>
    %1 = "weft.constant"() {value = 0.10000000149011612 : f64, dtype = f32} : () -> tensor<f32>
    %2 = "weft.mul"(%x, %1) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xf32, #weft.dims<n>>
    %3 = "weft.constant"() {value = 1.0e+300 : f64, dtype = f64} : () -> tensor<f64>
    %4 = "weft.cast"(%3) {to = i32} : (tensor<f64>) -> tensor<i32>
    %5 = "weft.add"(%i, %4) : (tensor<?xi32, #weft.dims<n>>, tensor<i32>) -> tensor<?xi32, #weft.dims<n>>
    "weft.return"(%2, %5) : (tensor<?xf32, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
