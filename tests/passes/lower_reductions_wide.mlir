// RUN: fuse,lower-reductions
// Eight bytes: 32 lanes.
"weft.kernel"() <{sym_name = "f", guards = ["max(1, x0) == x0", "max(1, x1) == x1"]}> ({
^bb0(%x : tensor<?x?xf64, #weft.dims<x0, x1>>):
  %0 = "weft.sum"(%x) {axes = array<i64: 0, 1>, keepdims = false} : (tensor<?x?xf64, #weft.dims<x0, x1>>) -> tensor<f64>
  %1 = "weft.max"(%x) {axes = array<i64: 0, 1>, keepdims = false} : (tensor<?x?xf64, #weft.dims<x0, x1>>) -> tensor<f64>
  "weft.return"(%0, %1) : (tensor<f64>, tensor<f64>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", guards = ["max(1, x0) == x0", "max(1, x1) == x1"]}> ({
  ^bb0(%x : tensor<?x?xf64, #weft.dims<x0, x1>>):
    %0:2 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf64, #weft.dims<x0, x1>>):
      %1 = "weft.sum"(%x_1) {axes = array<i64: 0, 1>, keepdims = false, order = ["0+1"], lanes = 32 : i64, steps = 16 : i64} : (tensor<?x?xf64, #weft.dims<x0, x1>>) -> tensor<f64>
      %2 = "weft.max"(%x_1) {axes = array<i64: 0, 1>, keepdims = false, order = ["0+1"], lanes = 32 : i64, steps = 0 : i64} : (tensor<?x?xf64, #weft.dims<x0, x1>>) -> tensor<f64>
      "weft.yield"(%1, %2) : (tensor<f64>, tensor<f64>) -> ()
    }) {space = #weft.dims<x0, x1>, reduced = array<i64: 0, 1>, rows = array<i64>, columns = ["0+1"], vector = 1 : i64} : (tensor<?x?xf64, #weft.dims<x0, x1>>) -> (tensor<f64>, tensor<f64>)
    "weft.return"(%0#0, %0#1) : (tensor<f64>, tensor<f64>) -> ()
  }) : () -> ()
}) : () -> ()
