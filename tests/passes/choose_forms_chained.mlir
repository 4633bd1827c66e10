// RUN: fuse,lower-reductions,schedule,choose-forms{sizes=n=4096,m=4096}
// Functions that wait for one another: four vectors are in a step over a large array.
"weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.exp"(%x) : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  %1 = "weft.sin"(%0) : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  "weft.return"(%1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n, m>>):
      %1 = "weft.exp"(%x_1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      %2 = "weft.sin"(%1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      "weft.yield"(%2) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64>, rows = ["0+1"], columns = array<i64>, vector = 1 : i64, layouts = ["C", "C"], width = 8 : i64, unroll = 4 : i64, cost = 784 : i64, form = "rows", peel = 1 : i64, stream, guards = ["max(12*m*n, 16777216) == 12*m*n"]} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
  }) : () -> ()
}) : () -> ()
