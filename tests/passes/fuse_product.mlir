// RUN: fuse
// What is cheap on an operand and what follows at the same index joins a product; what adds columns up does not.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%a : tensor<?x?xf32, #weft.dims<m, k>>, %b : tensor<?x?xf32, #weft.dims<k, n>>, %c : tensor<?xf32, #weft.dims<n>>):
  %0 = "weft.add"(%a, %a) : (tensor<?x?xf32, #weft.dims<m, k>>, tensor<?x?xf32, #weft.dims<m, k>>) -> tensor<?x?xf32, #weft.dims<m, k>>
  %1 = "weft.matmul"(%0, %b) : (tensor<?x?xf32, #weft.dims<m, k>>, tensor<?x?xf32, #weft.dims<k, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
  %2 = "weft.add"(%1, %c) : (tensor<?x?xf32, #weft.dims<m, n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
  %3 = "weft.sum"(%2) {axes = array<i64: 0>} : (tensor<?x?xf32, #weft.dims<m, n>>) -> tensor<?xf32, #weft.dims<n>>
  "weft.return"(%2, %3) : (tensor<?x?xf32, #weft.dims<m, n>>, tensor<?xf32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", unfused = ["sum[n] is not fused with add[m, n]: a product is made in tiles, not row by row"]}> ({
  ^bb0(%a : tensor<?x?xf32, #weft.dims<m, k>>, %b : tensor<?x?xf32, #weft.dims<k, n>>, %c : tensor<?xf32, #weft.dims<n>>):
    %0 = "weft.region"(%a, %b, %c) ({
    ^bb0(%a_1 : tensor<?x?xf32, #weft.dims<m, k>>, %b_1 : tensor<?x?xf32, #weft.dims<k, n>>, %c_1 : tensor<?xf32, #weft.dims<n>>):
      %1 = "weft.add"(%a_1, %a_1) : (tensor<?x?xf32, #weft.dims<m, k>>, tensor<?x?xf32, #weft.dims<m, k>>) -> tensor<?x?xf32, #weft.dims<m, k>>
      %2 = "weft.matmul"(%1, %b_1) : (tensor<?x?xf32, #weft.dims<m, k>>, tensor<?x?xf32, #weft.dims<k, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
      %3 = "weft.add"(%2, %c_1) : (tensor<?x?xf32, #weft.dims<m, n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
      "weft.yield"(%3) : (tensor<?x?xf32, #weft.dims<m, n>>) -> ()
    }) {space = #weft.dims<m, n, k>, reduced = array<i64: 2>} : (tensor<?x?xf32, #weft.dims<m, k>>, tensor<?x?xf32, #weft.dims<k, n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    %4 = "weft.region"(%0) ({
    ^bb0(%in : tensor<?x?xf32, #weft.dims<m, n>>):
      %5 = "weft.sum"(%in) {axes = array<i64: 0>} : (tensor<?x?xf32, #weft.dims<m, n>>) -> tensor<?xf32, #weft.dims<n>>
      "weft.yield"(%5) : (tensor<?xf32, #weft.dims<n>>) -> ()
    }) {space = #weft.dims<m, n>, reduced = array<i64: 0>} : (tensor<?x?xf32, #weft.dims<m, n>>) -> tensor<?xf32, #weft.dims<n>>
    "weft.return"(%0, %4) : (tensor<?x?xf32, #weft.dims<m, n>>, tensor<?xf32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
