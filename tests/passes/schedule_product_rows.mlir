// RUN: fuse,lower-reductions,schedule
// A region of rows has the plan of a product and that of its rows.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%a : tensor<?x?xf32, #weft.dims<m, k>>, %b : tensor<?x?xf32, #weft.dims<k, n>>):
  %0 = "weft.matmul"(%a, %b) : (tensor<?x?xf32, #weft.dims<m, k>>, tensor<?x?xf32, #weft.dims<k, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
  %1 = "weft.max"(%0) {axes = array<i64: 1>, keepdims} : (tensor<?x?xf32, #weft.dims<m, n>>) -> tensor<?x1xf32, #weft.dims<m, 1>>
  %2 = "weft.sub"(%0, %1) : (tensor<?x?xf32, #weft.dims<m, n>>, tensor<?x1xf32, #weft.dims<m, 1>>) -> tensor<?x?xf32, #weft.dims<m, n>>
  "weft.return"(%2) : (tensor<?x?xf32, #weft.dims<m, n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%a : tensor<?x?xf32, #weft.dims<m, k>>, %b : tensor<?x?xf32, #weft.dims<k, n>>):
    %0 = "weft.region"(%a, %b) ({
    ^bb0(%a_1 : tensor<?x?xf32, #weft.dims<m, k>>, %b_1 : tensor<?x?xf32, #weft.dims<k, n>>):
      %1 = "weft.matmul"(%a_1, %b_1) : (tensor<?x?xf32, #weft.dims<m, k>>, tensor<?x?xf32, #weft.dims<k, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
      %2 = "weft.max"(%1) {axes = array<i64: 1>, keepdims, order = ["1"], lanes = 64 : i64, steps = 0 : i64} : (tensor<?x?xf32, #weft.dims<m, n>>) -> tensor<?x1xf32, #weft.dims<m, 1>>
      %3 = "weft.sub"(%1, %2) : (tensor<?x?xf32, #weft.dims<m, n>>, tensor<?x1xf32, #weft.dims<m, 1>>) -> tensor<?x?xf32, #weft.dims<m, n>>
      "weft.yield"(%3) : (tensor<?x?xf32, #weft.dims<m, n>>) -> ()
    }) {space = #weft.dims<m, n>, reduced = array<i64: 1>, rows = ["0"], columns = ["1"], vector = 1 : i64, layouts = ["C", "C", "C"], width = 8 : i64, unroll = 4 : i64, cost = 4316 : i64, row_cost = 476 : i64, registers = array<i64: 6, 2>, blocks = array<i64: 240, 512, 384>, turned = array<i64>, row_width = 8 : i64} : (tensor<?x?xf32, #weft.dims<m, k>>, tensor<?x?xf32, #weft.dims<k, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<m, n>>) -> ()
  }) : () -> ()
}) : () -> ()
