// RUN: fuse,lower-reductions,schedule,choose-forms{sizes=n=129,m=70}
// Many lines: only chunks are compiled.
"weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.sum"(%x) {axes = array<i64: 0>, keepdims = false} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xf32, #weft.dims<m>>
  "weft.return"(%0) : (tensor<?xf32, #weft.dims<m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n, m>>):
      %1 = "weft.sum"(%x_1) {axes = array<i64: 0>, keepdims = false, order = ["0"], lanes = 1 : i64, steps = 16 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xf32, #weft.dims<m>>
      "weft.yield"(%1) : (tensor<?xf32, #weft.dims<m>>) -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64: 0>, rows = ["1"], columns = ["0"], vector = 1 : i64, layouts = ["C", "C"], width = 8 : i64, unroll = 4 : i64, cost = 392 : i64, chunk = 8 : i64, form = "chunks", prefetch = array<i64: 8, 1>, lines = 16 : i64, guards = ["max(129, n) == n", "min(4*m, 4095) == 4*m"]} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xf32, #weft.dims<m>>
    "weft.return"(%0) : (tensor<?xf32, #weft.dims<m>>) -> ()
  }) : () -> ()
}) : () -> ()
