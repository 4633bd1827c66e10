// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>, %i : tensor<?xi64, #weft.dims<n>>):
  %0 = "weft.max"(%x) {axes = array<i64>} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  %1 = "weft.sum"(%x) {axes = array<i64>} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  %2 = "weft.sum"(%i) {axes = array<i64>} : (tensor<?xi64, #weft.dims<n>>) -> tensor<?xi64, #weft.dims<n>>
  "weft.return"(%0, %1, %2) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>, tensor<?xi64, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>, %i : tensor<?xi64, #weft.dims<n>>):
    %0 = "weft.constant"() {value = 0.0 : f64, dtype = f32} : () -> tensor<f32>
    %1 = "weft.add"(%x, %0) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xf32, #weft.dims<n>>
    "weft.return"(%x, %1, %i) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>, tensor<?xi64, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
