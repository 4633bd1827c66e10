// RUN: promote-dtypes
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%k : !weft.weak<int>, %t : !weft.weak<float>):
  %0 = "weft.constant"() {value = 3 : i64, dtype = !weft.weak<int>} : () -> !weft.weak<int>
  %1 = "weft.constant"() {value = 1 : i64, dtype = !weft.weak<int>} : () -> !weft.weak<int>
  %2 = "weft.add"(%k, %1) : (!weft.weak<int>, !weft.weak<int>) -> !weft.weak<int>
  "weft.return"(%0, %2, %t) : (!weft.weak<int>, !weft.weak<int>, !weft.weak<float>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%k : !weft.weak<int>, %t : !weft.weak<float>):
    %0 = "weft.cast"(%k) {to = i64} : (!weft.weak<int>) -> tensor<i64>
    %1 = "weft.constant"() {value = 1 : i64, dtype = i64} : () -> tensor<i64>
    %2 = "weft.add"(%0, %1) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %3 = "weft.constant"() {value = 3 : i64, dtype = i64} : () -> tensor<i64>
    %4 = "weft.cast"(%t) {to = f64} : (!weft.weak<float>) -> tensor<f64>
    "weft.return"(%3, %2, %4) : (tensor<i64>, tensor<i64>, tensor<f64>) -> ()
  }) : () -> ()
}) : () -> ()
