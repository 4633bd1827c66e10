// RUN: fuse,lower-reductions,schedule,choose-forms{sizes=n=4096,m=8}
// Rows of 8 columns: each lane has a row.
"weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.max"(%x) {axes = array<i64: 1>, keepdims} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x1xf32, #weft.dims<n, 1>>
  %1 = "weft.sub"(%x, %0) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x1xf32, #weft.dims<n, 1>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  %2 = "weft.exp"(%1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  %3 = "weft.sum"(%2) {axes = array<i64: 1>, keepdims} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x1xf32, #weft.dims<n, 1>>
  %4 = "weft.div"(%2, %3) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x1xf32, #weft.dims<n, 1>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  "weft.return"(%4) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n, m>>):
      %1 = "weft.max"(%x_1) {axes = array<i64: 1>, keepdims, order = ["1"], lanes = 64 : i64, steps = 0 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x1xf32, #weft.dims<n, 1>>
      %2 = "weft.sub"(%x_1, %1) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x1xf32, #weft.dims<n, 1>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      %3 = "weft.exp"(%2) {keep = "result 0"} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      %4 = "weft.sum"(%3) {axes = array<i64: 1>, keepdims, order = ["1"], lanes = 64 : i64, steps = 16 : i64, composite = "exp", chunk = 32 : i64, cut_from = 262144 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x1xf32, #weft.dims<n, 1>>
      %5 = "weft.div"(%3, %4) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x1xf32, #weft.dims<n, 1>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      "weft.yield"(%5) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64: 1>, rows = ["0"], columns = ["1"], vector = 0 : i64, layouts = ["C", "C"], width = 8 : i64, unroll = 1 : i64, cost = 1184 : i64, chunk = 32 : i64, form = "rows", guards = ["min(16, m) == m"]} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
  }) : () -> ()
}) : () -> ()
