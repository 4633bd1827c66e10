// RUN: fuse
// An operand that takes long is computed once, by a kernel of its own.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%a : tensor<?x?xf32, #weft.dims<m, k>>, %b : tensor<?x?xf32, #weft.dims<n, k>>):
  %0 = "weft.exp"(%b) : (tensor<?x?xf32, #weft.dims<n, k>>) -> tensor<?x?xf32, #weft.dims<n, k>>
  %1 = "weft.transpose"(%0) {order = array<i64: 1, 0>} : (tensor<?x?xf32, #weft.dims<n, k>>) -> tensor<?x?xf32, #weft.dims<k, n>>
  %2 = "weft.matmul"(%a, %1) : (tensor<?x?xf32, #weft.dims<m, k>>, tensor<?x?xf32, #weft.dims<k, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
  "weft.return"(%2) : (tensor<?x?xf32, #weft.dims<m, n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", unfused = ["matmul[m, n] is not fused with exp[n, k]: a product reads whole rows and columns, so its operands are made first"]}> ({
  ^bb0(%a : tensor<?x?xf32, #weft.dims<m, k>>, %b : tensor<?x?xf32, #weft.dims<n, k>>):
    %0 = "weft.region"(%b) ({
    ^bb0(%b_1 : tensor<?x?xf32, #weft.dims<n, k>>):
      %1 = "weft.exp"(%b_1) : (tensor<?x?xf32, #weft.dims<n, k>>) -> tensor<?x?xf32, #weft.dims<n, k>>
      "weft.yield"(%1) : (tensor<?x?xf32, #weft.dims<n, k>>) -> ()
    }) {space = #weft.dims<n, k>, reduced = array<i64>} : (tensor<?x?xf32, #weft.dims<n, k>>) -> tensor<?x?xf32, #weft.dims<n, k>>
    %2 = "weft.region"(%0, %a) ({
    ^bb0(%in : tensor<?x?xf32, #weft.dims<n, k>>, %a_1 : tensor<?x?xf32, #weft.dims<m, k>>):
      %3 = "weft.transpose"(%in) {order = array<i64: 1, 0>} : (tensor<?x?xf32, #weft.dims<n, k>>) -> tensor<?x?xf32, #weft.dims<k, n>>
      %4 = "weft.matmul"(%a_1, %3) : (tensor<?x?xf32, #weft.dims<m, k>>, tensor<?x?xf32, #weft.dims<k, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
      "weft.yield"(%4) : (tensor<?x?xf32, #weft.dims<m, n>>) -> ()
    }) {space = #weft.dims<m, n, k>, reduced = array<i64: 2>} : (tensor<?x?xf32, #weft.dims<n, k>>, tensor<?x?xf32, #weft.dims<m, k>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    "weft.return"(%2) : (tensor<?x?xf32, #weft.dims<m, n>>) -> ()
  }) : () -> ()
}) : () -> ()
