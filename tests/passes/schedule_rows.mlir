// RUN: fuse,lower-reductions,schedule
// Rows from a length on are cut into chunks of 32 blocks, which threads share.
"weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>):
  %0 = "weft.sum"(%x) {axes = array<i64: 1>, keepdims = false} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?xf32, #weft.dims<x0>>
  "weft.return"(%0) : (tensor<?xf32, #weft.dims<x0>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<x0, x1>>):
      %1 = "weft.sum"(%x_1) {axes = array<i64: 1>, keepdims = false, order = ["1"], lanes = 64 : i64, steps = 16 : i64} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?xf32, #weft.dims<x0>>
      "weft.yield"(%1) : (tensor<?xf32, #weft.dims<x0>>) -> ()
    }) {space = #weft.dims<x0, x1>, reduced = array<i64: 1>, rows = ["0"], columns = ["1"], vector = 1 : i64, layouts = ["C", "C"], width = 8 : i64, unroll = 4 : i64, cost = 392 : i64, chunk = 32 : i64, cut_from = 131072 : i64} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?xf32, #weft.dims<x0>>
    "weft.return"(%0) : (tensor<?xf32, #weft.dims<x0>>) -> ()
  }) : () -> ()
}) : () -> ()
