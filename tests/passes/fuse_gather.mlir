// RUN: fuse
// What is looked up is in memory, through a view or not; indices and what becomes of the elements are fused.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>, %i : tensor<?xi64, #weft.dims<k>>):
  %0 = "weft.transpose"(%x) {order = array<i64: 1, 0>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<m, n>>
  %1 = "weft.neg"(%i) : (tensor<?xi64, #weft.dims<k>>) -> tensor<?xi64, #weft.dims<k>>
  %2 = "weft.gather"(%0, %1) {axes = array<i64: 0>} : (tensor<?x?xf32, #weft.dims<m, n>>, tensor<?xi64, #weft.dims<k>>) -> tensor<?x?xf32, #weft.dims<k, n>>
  %3 = "weft.exp"(%2) : (tensor<?x?xf32, #weft.dims<k, n>>) -> tensor<?x?xf32, #weft.dims<k, n>>
  "weft.return"(%3) : (tensor<?x?xf32, #weft.dims<k, n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>, %i : tensor<?xi64, #weft.dims<k>>):
    %0 = "weft.region"(%x, %i) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n, m>>, %i_1 : tensor<?xi64, #weft.dims<k>>):
      %1 = "weft.transpose"(%x_1) {order = array<i64: 1, 0>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<m, n>>
      %2 = "weft.neg"(%i_1) : (tensor<?xi64, #weft.dims<k>>) -> tensor<?xi64, #weft.dims<k>>
      %3 = "weft.gather"(%1, %2) {axes = array<i64: 0>} : (tensor<?x?xf32, #weft.dims<m, n>>, tensor<?xi64, #weft.dims<k>>) -> tensor<?x?xf32, #weft.dims<k, n>>
      %4 = "weft.exp"(%3) : (tensor<?x?xf32, #weft.dims<k, n>>) -> tensor<?x?xf32, #weft.dims<k, n>>
      "weft.yield"(%4) : (tensor<?x?xf32, #weft.dims<k, n>>) -> ()
    }) {space = #weft.dims<k, n>, reduced = array<i64>} : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?xi64, #weft.dims<k>>) -> tensor<?x?xf32, #weft.dims<k, n>>
    "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<k, n>>) -> ()
  }) : () -> ()
}) : () -> ()
