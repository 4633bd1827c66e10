// RUN: promote-dtypes
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>):
  %0 = "weft.sum"(%x) {axes = array<i64: 0>} : (tensor<?xf32, #weft.dims<n>>) -> tensor<f32>
  %1 = "weft.size"() {size = #weft.dims<n>} : () -> !weft.weak<int>
  %2 = "weft.div"(%0, %1) : (tensor<f32>, !weft.weak<int>) -> tensor<f32>
  "weft.return"(%2) : (tensor<f32>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>):
    %0 = "weft.sum"(%x) {axes = array<i64: 0>} : (tensor<?xf32, #weft.dims<n>>) -> tensor<f32>
    %1 = "weft.size"() {size = #weft.dims<n>} : () -> !weft.weak<int>
    %2 = "weft.cast"(%1) {to = f64} : (!weft.weak<int>) -> tensor<f64>
    %3 = "weft.cast"(%2) {to = f32} : (tensor<f64>) -> tensor<f32>
    %4 = "weft.div"(%0, %3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "weft.return"(%4) : (tensor<f32>) -> ()
  }) : () -> ()
}) : () -> ()
