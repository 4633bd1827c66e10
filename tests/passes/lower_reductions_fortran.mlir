// RUN: fuse,lower-reductions
// Fortran layout: axis 0 is contiguous.
"weft.kernel"() <{sym_name = "f", layouts = ["F"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>):
  %0 = "weft.sum"(%x) {axes = array<i64: 0>, keepdims = false} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?xf32, #weft.dims<x1>>
  "weft.return"(%0) : (tensor<?xf32, #weft.dims<x1>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["F"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<x0, x1>>):
      %1 = "weft.sum"(%x_1) {axes = array<i64: 0>, keepdims = false, order = ["0"], lanes = 64 : i64, steps = 16 : i64} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?xf32, #weft.dims<x1>>
      "weft.yield"(%1) : (tensor<?xf32, #weft.dims<x1>>) -> ()
    }) {space = #weft.dims<x0, x1>, reduced = array<i64: 0>, rows = ["1"], columns = ["0"], vector = 0 : i64} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?xf32, #weft.dims<x1>>
    "weft.return"(%0) : (tensor<?xf32, #weft.dims<x1>>) -> ()
  }) : () -> ()
}) : () -> ()
