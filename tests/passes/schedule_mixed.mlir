// RUN: fuse,schedule
// C wins where layouts disagree.
"weft.kernel"() <{sym_name = "f", layouts = ["C", "F"], out_layouts = ["C"], guards = ["x0 == y0", "x1 == y1"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>, %y : tensor<?x?xf32, #weft.dims<x0, x1>>):
  %0 = "weft.mul"(%x, %y) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
  "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C", "F"], out_layouts = ["C"], guards = ["x0 == y0", "x1 == y1"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>, %y : tensor<?x?xf32, #weft.dims<x0, x1>>):
    %0 = "weft.region"(%x, %y) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<x0, x1>>, %y_1 : tensor<?x?xf32, #weft.dims<x0, x1>>):
      %1 = "weft.mul"(%x_1, %y_1) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
      "weft.yield"(%1) : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
    }) {space = #weft.dims<x0, x1>, reduced = array<i64>, rows = ["0", "1"], columns = array<i64>, vector = 1 : i64, layouts = ["C", "F", "C"], width = 8 : i64, unroll = 4 : i64, cost = 116 : i64, tile = 128 : i64} : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
    "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
  }) : () -> ()
}) : () -> ()
