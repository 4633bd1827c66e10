// RUN: promote-dtypes
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%k : !weft.weak<int>):
  %0 = "weft.constant"() {value = 300 : i64, dtype = !weft.weak<int>} : () -> !weft.weak<int>
  %1 = "weft.cast"(%0) {to = ui8} : (!weft.weak<int>) -> tensor<ui8>
  %2 = "weft.cast"(%k) {to = f32} : (!weft.weak<int>) -> tensor<f32>
  "weft.return"(%1, %2) : (tensor<ui8>, tensor<f32>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%k : !weft.weak<int>):
    %0 = "weft.constant"() {value = 300 : i64, dtype = i64} : () -> tensor<i64>
    %1 = "weft.cast"(%0) {to = ui8} : (tensor<i64>) -> tensor<ui8>
    %2 = "weft.cast"(%k) {to = f32} : (!weft.weak<int>) -> tensor<f32>
    "weft.return"(%1, %2) : (tensor<ui8>, tensor<f32>) -> ()
  }) : () -> ()
}) : () -> ()
