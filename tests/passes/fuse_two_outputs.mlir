// RUN: fuse
// Siblings over the same data share a region.
"weft.kernel"() <{sym_name = "f", guards = ["x0 == y0", "x1 == y1"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>, %y : tensor<?x?xf32, #weft.dims<x0, x1>>):
  %0 = "weft.add"(%x, %y) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
  %1 = "weft.mul"(%x, %y) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
  "weft.return"(%0, %1) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", guards = ["x0 == y0", "x1 == y1"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>, %y : tensor<?x?xf32, #weft.dims<x0, x1>>):
    %0:2 = "weft.region"(%x, %y) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<x0, x1>>, %y_1 : tensor<?x?xf32, #weft.dims<x0, x1>>):
      %1 = "weft.add"(%x_1, %y_1) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
      %2 = "weft.mul"(%x_1, %y_1) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
      "weft.yield"(%1, %2) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
    }) {space = #weft.dims<x0, x1>, reduced = array<i64>} : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x?xf32, #weft.dims<x0, x1>>) -> (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x?xf32, #weft.dims<x0, x1>>)
    "weft.return"(%0#0, %0#1) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
  }) : () -> ()
}) : () -> ()
