// RUN: merge-duplicates
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<1xf32>):
  %0 = "weft.reshape"(%x) {shape = #weft.dims<>} : (tensor<1xf32>) -> tensor<f32>
  %1 = "weft.reshape"(%x) {shape = #weft.dims<>, element} : (tensor<1xf32>) -> tensor<f32>
  "weft.return"(%0, %1) : (tensor<f32>, tensor<f32>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<1xf32>):
    %0 = "weft.reshape"(%x) {shape = #weft.dims<>} : (tensor<1xf32>) -> tensor<f32>
    %1 = "weft.reshape"(%x) {shape = #weft.dims<>, element} : (tensor<1xf32>) -> tensor<f32>
    "weft.return"(%0, %1) : (tensor<f32>, tensor<f32>) -> ()
  }) : () -> ()
}) : () -> ()
