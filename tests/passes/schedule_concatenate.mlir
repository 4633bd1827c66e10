// RUN: fuse,schedule
// Pieces along the last axis of C memory are rows with gaps, a piece of one column has no unit stride.
"weft.kernel"() <{sym_name = "f", layouts = ["C", "C"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>, %y : tensor<?x1xf32, #weft.dims<n, 1>>):
  %0 = "weft.concatenate"(%x, %y) {axis = 1 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x1xf32, #weft.dims<n, 1>>) -> tensor<?x?xf32, #weft.dims<n, m + 1>>
  "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<n, m + 1>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C", "C"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>, %y : tensor<?x1xf32, #weft.dims<n, 1>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n, m>>):
      %1 = "weft.cast"(%x_1) {to = f32} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      "weft.yield"(%1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64>, rows = ["0", "1"], columns = array<i64>, vector = 1 : i64, layouts = ["C", "unit"], width = 8 : i64, unroll = 4 : i64, cost = 84 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    %2 = "weft.region"(%y) ({
    ^bb0(%y_1 : tensor<?x1xf32, #weft.dims<n, 1>>):
      %3 = "weft.cast"(%y_1) {to = f32} : (tensor<?x1xf32, #weft.dims<n, 1>>) -> tensor<?x1xf32, #weft.dims<n, 1>>
      "weft.yield"(%3) : (tensor<?x1xf32, #weft.dims<n, 1>>) -> ()
    }) {space = #weft.dims<n, 1>, reduced = array<i64>, rows = ["0"], columns = array<i64>, vector = 0 : i64, layouts = ["C", "general"], width = 8 : i64, unroll = 4 : i64, cost = 84 : i64} : (tensor<?x1xf32, #weft.dims<n, 1>>) -> tensor<?x1xf32, #weft.dims<n, 1>>
    %4 = "weft.concatenate"(%0, %2) {axis = 1 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x1xf32, #weft.dims<n, 1>>) -> tensor<?x?xf32, #weft.dims<n, m + 1>>
    "weft.return"(%4) : (tensor<?x?xf32, #weft.dims<n, m + 1>>) -> ()
  }) : () -> ()
}) : () -> ()
