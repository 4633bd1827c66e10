// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<4x6xf32>, %k : tensor<f32>):
  %0 = "weft.broadcast"(%k) {shape = #weft.dims<5, 5>} : (tensor<f32>) -> tensor<5x5xf32>
  %1 = "weft.diagonal"(%0) {axes = array<i64: 0, 1>, starts = #weft.dims<0, 1>, size = #weft.dims<4>} : (tensor<5x5xf32>) -> tensor<4xf32>
  %2 = "weft.diagonal"(%x) {axes = array<i64: 1, 0>, starts = #weft.dims<2, 0>, size = #weft.dims<4>} : (tensor<4x6xf32>) -> tensor<4xf32>
  %3 = "weft.add"(%1, %2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  "weft.return"(%3) : (tensor<4xf32>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<4x6xf32>, %k : tensor<f32>):
    %0 = "weft.broadcast"(%k) {shape = #weft.dims<5, 5>} : (tensor<f32>) -> tensor<5x5xf32>
    %1 = "weft.broadcast"(%k) {shape = #weft.dims<4>} : (tensor<f32>) -> tensor<4xf32>
    %2 = "weft.diagonal"(%x) {axes = array<i64: 1, 0>, starts = #weft.dims<2, 0>, size = #weft.dims<4>} : (tensor<4x6xf32>) -> tensor<4xf32>
    %3 = "weft.add"(%k, %2) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
    "weft.return"(%3) : (tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
