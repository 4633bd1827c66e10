// RUN: fuse,schedule
// The widest element decides the vector width.
"weft.kernel"() <{sym_name = "f", guards = ["x0 == i0", "x1 == i1"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>, %i : tensor<?x?xi32, #weft.dims<x0, x1>>):
  %0 = "weft.cast"(%x) {to = f64} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x?xf64, #weft.dims<x0, x1>>
  %1 = "weft.cast"(%i) {to = f64} : (tensor<?x?xi32, #weft.dims<x0, x1>>) -> tensor<?x?xf64, #weft.dims<x0, x1>>
  %2 = "weft.mul"(%0, %1) : (tensor<?x?xf64, #weft.dims<x0, x1>>, tensor<?x?xf64, #weft.dims<x0, x1>>) -> tensor<?x?xf64, #weft.dims<x0, x1>>
  "weft.return"(%2) : (tensor<?x?xf64, #weft.dims<x0, x1>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", guards = ["x0 == i0", "x1 == i1"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>, %i : tensor<?x?xi32, #weft.dims<x0, x1>>):
    %0 = "weft.region"(%x, %i) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<x0, x1>>, %i_1 : tensor<?x?xi32, #weft.dims<x0, x1>>):
      %1 = "weft.cast"(%x_1) {to = f64} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x?xf64, #weft.dims<x0, x1>>
      %2 = "weft.cast"(%i_1) {to = f64} : (tensor<?x?xi32, #weft.dims<x0, x1>>) -> tensor<?x?xf64, #weft.dims<x0, x1>>
      %3 = "weft.mul"(%1, %2) : (tensor<?x?xf64, #weft.dims<x0, x1>>, tensor<?x?xf64, #weft.dims<x0, x1>>) -> tensor<?x?xf64, #weft.dims<x0, x1>>
      "weft.yield"(%3) : (tensor<?x?xf64, #weft.dims<x0, x1>>) -> ()
    }) {space = #weft.dims<x0, x1>, reduced = array<i64>, rows = ["0+1"], columns = array<i64>, vector = 1 : i64, layouts = ["C", "C", "C"], width = 4 : i64, unroll = 4 : i64, cost = 248 : i64} : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x?xi32, #weft.dims<x0, x1>>) -> tensor<?x?xf64, #weft.dims<x0, x1>>
    "weft.return"(%0) : (tensor<?x?xf64, #weft.dims<x0, x1>>) -> ()
  }) : () -> ()
}) : () -> ()
