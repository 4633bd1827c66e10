// RUN: fuse,lower-reductions,schedule,choose-forms{sizes=n=4096,m=4096}
// A result of 64 MB is written by non-temporal stores.
"weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.neg"(%x) : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n, m>>):
      %1 = "weft.neg"(%x_1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      "weft.yield"(%1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64>, rows = ["0+1"], columns = array<i64>, vector = 1 : i64, layouts = ["C", "C"], width = 8 : i64, unroll = 4 : i64, cost = 84 : i64, form = "rows", peel = 1 : i64, stream, guards = ["max(12*m*n, 16777216) == 12*m*n"]} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
  }) : () -> ()
}) : () -> ()
