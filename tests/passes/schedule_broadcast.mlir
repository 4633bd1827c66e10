// RUN: fuse,schedule
// A row is repeated: two loops.
"weft.kernel"() <{sym_name = "f", guards = ["x1 == b0"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>, %b : tensor<?xf32, #weft.dims<x1>>):
  %0 = "weft.mul"(%x, %b) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?xf32, #weft.dims<x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
  "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", guards = ["x1 == b0"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>, %b : tensor<?xf32, #weft.dims<x1>>):
    %0 = "weft.region"(%x, %b) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<x0, x1>>, %b_1 : tensor<?xf32, #weft.dims<x1>>):
      %1 = "weft.mul"(%x_1, %b_1) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?xf32, #weft.dims<x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
      "weft.yield"(%1) : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
    }) {space = #weft.dims<x0, x1>, reduced = array<i64>, rows = ["0", "1"], columns = array<i64>, vector = 1 : i64, layouts = ["C", "C", "C"], width = 8 : i64, unroll = 4 : i64, cost = 84 : i64} : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?xf32, #weft.dims<x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
    "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
  }) : () -> ()
}) : () -> ()
