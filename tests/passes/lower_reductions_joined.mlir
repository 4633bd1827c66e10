// RUN: fuse,lower-reductions
// C layout: both axes run as one.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>):
  %0 = "weft.sum"(%x) {axes = array<i64: 0, 1>, keepdims = false} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<f32>
  "weft.return"(%0) : (tensor<f32>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<x0, x1>>):
      %1 = "weft.sum"(%x_1) {axes = array<i64: 0, 1>, keepdims = false, order = ["0+1"], lanes = 64 : i64, steps = 16 : i64} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<f32>
      "weft.yield"(%1) : (tensor<f32>) -> ()
    }) {space = #weft.dims<x0, x1>, reduced = array<i64: 0, 1>, rows = array<i64>, columns = ["0+1"], vector = 1 : i64} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<f32>
    "weft.return"(%0) : (tensor<f32>) -> ()
  }) : () -> ()
}) : () -> ()
