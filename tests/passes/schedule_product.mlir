// RUN: fuse,schedule
// The right operand lies across the direction in which tiles read it.
"weft.kernel"() <{sym_name = "f", layouts = ["C", "F"], out_layouts = ["C"]}> ({
^bb0(%a : tensor<?x?xf64, #weft.dims<m, k>>, %b : tensor<?x?xf64, #weft.dims<k, n>>):
  %0 = "weft.matmul"(%a, %b) : (tensor<?x?xf64, #weft.dims<m, k>>, tensor<?x?xf64, #weft.dims<k, n>>) -> tensor<?x?xf64, #weft.dims<m, n>>
  "weft.return"(%0) : (tensor<?x?xf64, #weft.dims<m, n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C", "F"], out_layouts = ["C"]}> ({
  ^bb0(%a : tensor<?x?xf64, #weft.dims<m, k>>, %b : tensor<?x?xf64, #weft.dims<k, n>>):
    %0 = "weft.region"(%a, %b) ({
    ^bb0(%a_1 : tensor<?x?xf64, #weft.dims<m, k>>, %b_1 : tensor<?x?xf64, #weft.dims<k, n>>):
      %1 = "weft.matmul"(%a_1, %b_1) : (tensor<?x?xf64, #weft.dims<m, k>>, tensor<?x?xf64, #weft.dims<k, n>>) -> tensor<?x?xf64, #weft.dims<m, n>>
      "weft.yield"(%1) : (tensor<?x?xf64, #weft.dims<m, n>>) -> ()
    }) {space = #weft.dims<m, n, k>, reduced = array<i64: 2>, rows = array<i64>, columns = array<i64>, vector = 1 : i64, layouts = ["C", "F", "C"], width = 4 : i64, unroll = 1 : i64, cost = 20 : i64, registers = array<i64: 6, 2>, blocks = array<i64: 240, 512, 256>, turned = array<i64: 1>} : (tensor<?x?xf64, #weft.dims<m, k>>, tensor<?x?xf64, #weft.dims<k, n>>) -> tensor<?x?xf64, #weft.dims<m, n>>
    "weft.return"(%0) : (tensor<?x?xf64, #weft.dims<m, n>>) -> ()
  }) : () -> ()
}) : () -> ()
