// RUN: fuse,lower-reductions
// What is expensive would be computed once more in each walk: no composite.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>):
  %0 = "weft.tanh"(%x) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  %1 = "weft.max"(%0) {axes = array<i64: 0>} : (tensor<?xf32, #weft.dims<n>>) -> tensor<f32>
  %2 = "weft.sub"(%0, %1) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xf32, #weft.dims<n>>
  %3 = "weft.exp"(%2) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  %4 = "weft.sum"(%3) {axes = array<i64: 0>} : (tensor<?xf32, #weft.dims<n>>) -> tensor<f32>
  "weft.return"(%4) : (tensor<f32>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?xf32, #weft.dims<n>>):
      %1 = "weft.tanh"(%x_1) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
      %2 = "weft.max"(%1) {axes = array<i64: 0>, order = ["0"], lanes = 64 : i64, steps = 0 : i64} : (tensor<?xf32, #weft.dims<n>>) -> tensor<f32>
      %3 = "weft.sub"(%1, %2) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xf32, #weft.dims<n>>
      %4 = "weft.exp"(%3) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
      %5 = "weft.sum"(%4) {axes = array<i64: 0>, order = ["0"], lanes = 64 : i64, steps = 16 : i64} : (tensor<?xf32, #weft.dims<n>>) -> tensor<f32>
      "weft.yield"(%5) : (tensor<f32>) -> ()
    }) {space = #weft.dims<n>, reduced = array<i64: 0>, rows = array<i64>, columns = ["0"], vector = 0 : i64} : (tensor<?xf32, #weft.dims<n>>) -> tensor<f32>
    "weft.return"(%0) : (tensor<f32>) -> ()
  }) : () -> ()
}) : () -> ()
