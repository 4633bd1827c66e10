// RUN: fuse,lower-reductions,schedule,choose-forms{sizes=n=100,m=3}
// Vectors run through rows of 3 elements.
"weft.kernel"() <{sym_name = "f", layouts = ["C", "C"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>, %y : tensor<?xf32, #weft.dims<m>>):
  %0 = "weft.add"(%x, %y) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?xf32, #weft.dims<m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C", "C"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>, %y : tensor<?xf32, #weft.dims<m>>):
    %0 = "weft.region"(%x, %y) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n, m>>, %y_1 : tensor<?xf32, #weft.dims<m>>):
      %1 = "weft.add"(%x_1, %y_1) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?xf32, #weft.dims<m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      "weft.yield"(%1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64>, rows = ["0", "1"], columns = array<i64>, vector = 1 : i64, layouts = ["C", "C", "C"], width = 8 : i64, unroll = 1 : i64, cost = 84 : i64, form = "flat", guards = ["min(4, m) == m"]} : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?xf32, #weft.dims<m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
  }) : () -> ()
}) : () -> ()
