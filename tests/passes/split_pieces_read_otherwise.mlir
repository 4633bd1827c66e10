// RUN: split-pieces
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>, %y : tensor<?xf32, #weft.dims<m>>):
  %0 = "weft.concatenate"(%x, %y) {axis = 0 : i64} : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<m>>) -> tensor<?xf32, #weft.dims<m + n>>
  %1 = "weft.exp"(%0) : (tensor<?xf32, #weft.dims<m + n>>) -> tensor<?xf32, #weft.dims<m + n>>
  %2 = "weft.sum"(%0) {axes = array<i64: 0>} : (tensor<?xf32, #weft.dims<m + n>>) -> tensor<f32>
  "weft.return"(%1, %2) : (tensor<?xf32, #weft.dims<m + n>>, tensor<f32>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>, %y : tensor<?xf32, #weft.dims<m>>):
    %0 = "weft.concatenate"(%x, %y) {axis = 0 : i64} : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<m>>) -> tensor<?xf32, #weft.dims<m + n>>
    %1 = "weft.exp"(%0) : (tensor<?xf32, #weft.dims<m + n>>) -> tensor<?xf32, #weft.dims<m + n>>
    %2 = "weft.sum"(%0) {axes = array<i64: 0>} : (tensor<?xf32, #weft.dims<m + n>>) -> tensor<f32>
    "weft.return"(%1, %2) : (tensor<?xf32, #weft.dims<m + n>>, tensor<f32>) -> ()
  }) : () -> ()
}) : () -> ()
