// RUN: fuse
// The second reduction iterates over another space.
"weft.kernel"() <{sym_name = "f", guards = ["max(1, x0) == x0"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>):
  %0 = "weft.sum"(%x) {axes = array<i64: 1>, keepdims = false} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?xf32, #weft.dims<x0>>
  %1 = "weft.max"(%0) {axes = array<i64: 0>, keepdims = false} : (tensor<?xf32, #weft.dims<x0>>) -> tensor<f32>
  "weft.return"(%1) : (tensor<f32>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", unfused = ["max[] is not fused with sum[x0]: they iterate over different spaces, [x0, x1] and [x0]"], guards = ["max(1, x0) == x0"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<x0, x1>>):
      %1 = "weft.sum"(%x_1) {axes = array<i64: 1>, keepdims = false} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?xf32, #weft.dims<x0>>
      "weft.yield"(%1) : (tensor<?xf32, #weft.dims<x0>>) -> ()
    }) {space = #weft.dims<x0, x1>, reduced = array<i64: 1>} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?xf32, #weft.dims<x0>>
    %2 = "weft.region"(%0) ({
    ^bb0(%in : tensor<?xf32, #weft.dims<x0>>):
      %3 = "weft.max"(%in) {axes = array<i64: 0>, keepdims = false} : (tensor<?xf32, #weft.dims<x0>>) -> tensor<f32>
      "weft.yield"(%3) : (tensor<f32>) -> ()
    }) {space = #weft.dims<x0>, reduced = array<i64: 0>} : (tensor<?xf32, #weft.dims<x0>>) -> tensor<f32>
    "weft.return"(%2) : (tensor<f32>) -> ()
  }) : () -> ()
}) : () -> ()
