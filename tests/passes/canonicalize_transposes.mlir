// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>, %y : tensor<2x?x?xf32, #weft.dims<2, n, m>>):
  %0 = "weft.transpose"(%x) {order = array<i64: 1, 0>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<m, n>>
  %1 = "weft.transpose"(%0) {order = array<i64: 1, 0>} : (tensor<?x?xf32, #weft.dims<m, n>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  %2 = "weft.transpose"(%y) {order = array<i64: 1, 2, 0>} : (tensor<2x?x?xf32, #weft.dims<2, n, m>>) -> tensor<?x?x2xf32, #weft.dims<n, m, 2>>
  %3 = "weft.transpose"(%2) {order = array<i64: 1, 0, 2>} : (tensor<?x?x2xf32, #weft.dims<n, m, 2>>) -> tensor<?x?x2xf32, #weft.dims<m, n, 2>>
  "weft.return"(%1, %3) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x?x2xf32, #weft.dims<m, n, 2>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>, %y : tensor<2x?x?xf32, #weft.dims<2, n, m>>):
    %0 = "weft.transpose"(%x) {order = array<i64: 1, 0>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    %1 = "weft.transpose"(%y) {order = array<i64: 1, 2, 0>} : (tensor<2x?x?xf32, #weft.dims<2, n, m>>) -> tensor<?x?x2xf32, #weft.dims<n, m, 2>>
    %2 = "weft.transpose"(%y) {order = array<i64: 2, 1, 0>} : (tensor<2x?x?xf32, #weft.dims<2, n, m>>) -> tensor<?x?x2xf32, #weft.dims<m, n, 2>>
    "weft.return"(%x, %2) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x?x2xf32, #weft.dims<m, n, 2>>) -> ()
  }) : () -> ()
}) : () -> ()
