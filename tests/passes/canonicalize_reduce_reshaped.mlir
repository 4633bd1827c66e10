// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.reshape"(%x) {shape = #weft.dims<m*n>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xf32, #weft.dims<m*n>>
  %1 = "weft.sum"(%0) {axes = array<i64: 0>, keepdims = false} : (tensor<?xf32, #weft.dims<m*n>>) -> tensor<f32>
  %2 = "weft.argmax"(%0) {axes = array<i64: 0>} : (tensor<?xf32, #weft.dims<m*n>>) -> tensor<i64>
  %3 = "weft.max"(%0) {axes = array<i64: 0>, keepdims} : (tensor<?xf32, #weft.dims<m*n>>) -> tensor<1xf32>
  "weft.return"(%1, %2, %3) : (tensor<f32>, tensor<i64>, tensor<1xf32>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.reshape"(%x) {shape = #weft.dims<m*n>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xf32, #weft.dims<m*n>>
    %1 = "weft.sum"(%x) {axes = array<i64: 0, 1>, keepdims = false} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<f32>
    %2 = "weft.argmax"(%x) {axes = array<i64: 0, 1>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<i64>
    %3 = "weft.max"(%0) {axes = array<i64: 0>, keepdims} : (tensor<?xf32, #weft.dims<m*n>>) -> tensor<1xf32>
    "weft.return"(%1, %2, %3) : (tensor<f32>, tensor<i64>, tensor<1xf32>) -> ()
  }) : () -> ()
}) : () -> ()
