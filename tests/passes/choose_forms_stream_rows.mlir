// RUN: fuse,lower-reductions,schedule,choose-forms{sizes=n=60000,m=100}
// Rows of 400 bytes are written by normal stores: the lines that two rows share take long.
"weft.kernel"() <{sym_name = "f", layouts = ["C", "C"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>, %y : tensor<?xf32, #weft.dims<m>>):
  %0 = "weft.broadcast"(%y) {shape = #weft.dims<n, m>} : (tensor<?xf32, #weft.dims<m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  %1 = "weft.add"(%x, %0) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  "weft.return"(%1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C", "C"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>, %y : tensor<?xf32, #weft.dims<m>>):
    %0 = "weft.region"(%y, %x) ({
    ^bb0(%y_1 : tensor<?xf32, #weft.dims<m>>, %x_1 : tensor<?x?xf32, #weft.dims<n, m>>):
      %1 = "weft.broadcast"(%y_1) {shape = #weft.dims<n, m>} : (tensor<?xf32, #weft.dims<m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      %2 = "weft.add"(%x_1, %1) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      "weft.yield"(%2) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64>, rows = ["0", "1"], columns = array<i64>, vector = 1 : i64, layouts = ["C", "C", "C"], width = 8 : i64, unroll = 4 : i64, cost = 84 : i64, form = "rows", peel = 2 : i64, guards = ["max(5, m) == m", "max(16777216, 8*m + 12*m*n) == 8*m + 12*m*n", "min(4*m, 4095) == 4*m"]} : (tensor<?xf32, #weft.dims<m>>, tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
  }) : () -> ()
}) : () -> ()
