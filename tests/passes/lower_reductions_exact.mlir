// RUN: fuse,lower-reductions
// The order can not be seen: one block without end.
"weft.kernel"() <{sym_name = "f", guards = ["max(1, x0) == x0", "max(1, x1) == x1"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>):
  %0 = "weft.max"(%x) {axes = array<i64: 0, 1>, keepdims = false} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<f32>
  %1 = "weft.min"(%x) {axes = array<i64: 0, 1>, keepdims = false} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<f32>
  "weft.return"(%0, %1) : (tensor<f32>, tensor<f32>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", guards = ["max(1, x0) == x0", "max(1, x1) == x1"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>):
    %0:2 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<x0, x1>>):
      %1 = "weft.max"(%x_1) {axes = array<i64: 0, 1>, keepdims = false, order = ["0+1"], lanes = 64 : i64, steps = 0 : i64} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<f32>
      %2 = "weft.min"(%x_1) {axes = array<i64: 0, 1>, keepdims = false, order = ["0+1"], lanes = 64 : i64, steps = 0 : i64} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<f32>
      "weft.yield"(%1, %2) : (tensor<f32>, tensor<f32>) -> ()
    }) {space = #weft.dims<x0, x1>, reduced = array<i64: 0, 1>, rows = array<i64>, columns = ["0+1"], vector = 1 : i64} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> (tensor<f32>, tensor<f32>)
    "weft.return"(%0#0, %0#1) : (tensor<f32>, tensor<f32>) -> ()
  }) : () -> ()
}) : () -> ()
