// RUN: fuse,lower-reductions,schedule,choose-forms{sizes=n=2000,m=2000}
// The last stage writes line after line, past the caches; what belongs to a column is kept for it.
"weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.sum"(%x) {axes = array<i64: 0>, keepdims = false} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xf32, #weft.dims<m>>
  %1 = "weft.exp"(%0) : (tensor<?xf32, #weft.dims<m>>) -> tensor<?xf32, #weft.dims<m>>
  %2 = "weft.sub"(%x, %1) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?xf32, #weft.dims<m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  "weft.return"(%2) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n, m>>):
      %1 = "weft.sum"(%x_1) {axes = array<i64: 0>, keepdims = false, order = ["0"], lanes = 1 : i64, steps = 16 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xf32, #weft.dims<m>>
      %2 = "weft.exp"(%1) {keep = "row 0"} : (tensor<?xf32, #weft.dims<m>>) -> tensor<?xf32, #weft.dims<m>>
      %3 = "weft.sub"(%x_1, %2) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?xf32, #weft.dims<m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      "weft.yield"(%3) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64: 0>, rows = ["1"], columns = ["0"], vector = 1 : i64, layouts = ["C", "C"], width = 8 : i64, unroll = 8 : i64, cost = 444 : i64, chunk = 8 : i64, form = "chunks", spread, peel = 1 : i64, prefetch = array<i64: 8, 1>, stream, guards = ["max(12*m*n, 16777216) == 12*m*n", "max(4*m, 4096) == 4*m"]} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
  }) : () -> ()
}) : () -> ()
