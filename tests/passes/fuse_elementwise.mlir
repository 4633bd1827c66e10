// RUN: fuse
// A chain with a broadcast is one region.
"weft.kernel"() <{sym_name = "f", guards = ["x1 == b0"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>, %b : tensor<?xf32, #weft.dims<x1>>):
  %0 = "weft.add"(%x, %b) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?xf32, #weft.dims<x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
  %1 = "weft.mul"(%0, %x) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
  "weft.return"(%1) : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", guards = ["x1 == b0"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>, %b : tensor<?xf32, #weft.dims<x1>>):
    %0 = "weft.region"(%x, %b) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<x0, x1>>, %b_1 : tensor<?xf32, #weft.dims<x1>>):
      %1 = "weft.add"(%x_1, %b_1) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?xf32, #weft.dims<x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
      %2 = "weft.mul"(%1, %x_1) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
      "weft.yield"(%2) : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
    }) {space = #weft.dims<x0, x1>, reduced = array<i64>} : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?xf32, #weft.dims<x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
    "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
  }) : () -> ()
}) : () -> ()
