// RUN: fuse,lower-reductions,schedule,choose-forms{sizes=n=40,m=50},to-nest
// A region with reductions has no nest.
"weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.sum"(%x) {axes = array<i64: 1>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xf32, #weft.dims<n>>
  "weft.return"(%0) : (tensor<?xf32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n, m>>):
      %1 = "weft.sum"(%x_1) {axes = array<i64: 1>, order = ["1"], lanes = 64 : i64, steps = 16 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xf32, #weft.dims<n>>
      "weft.yield"(%1) : (tensor<?xf32, #weft.dims<n>>) -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64: 1>, rows = ["0"], columns = ["1"], vector = 1 : i64, layouts = ["C", "C"], width = 8 : i64, unroll = 4 : i64, cost = 392 : i64, chunk = 32 : i64, form = "rows", peel = 0 : i64, guards = ["min(131071, m) == m", "max(17, m) == m"]} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xf32, #weft.dims<n>>
    "weft.return"(%0) : (tensor<?xf32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
