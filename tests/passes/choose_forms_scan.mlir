// RUN: fuse,lower-reductions,schedule,choose-forms{sizes=n=200,m=512}
// Four rows of running sums are walked together, one vector of each at a time.
"weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.scan"(%x) {combine = "add", axis = 1 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n, m>>):
      %1 = "weft.scan"(%x_1) {combine = "add", axis = 1 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      "weft.yield"(%1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64>, scanned = array<i64: 1>, rows = ["0"], columns = ["1"], vector = 1 : i64, layouts = ["C", "C"], width = 8 : i64, unroll = 1 : i64, cost = 764 : i64, form = "rows", jam = array<i64: 0, 4>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
  }) : () -> ()
}) : () -> ()
