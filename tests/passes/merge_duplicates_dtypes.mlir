// RUN: merge-duplicates
"weft.kernel"() <{sym_name = "f"}> ({
^bb0:
  %0 = "weft.constant"() {value = 1 : i64, dtype = i32} : () -> tensor<i32>
  %1 = "weft.constant"() {value = 1 : i64, dtype = i64} : () -> tensor<i64>
  %2 = "weft.constant"() {value = 1.0 : f64, dtype = f32} : () -> tensor<f32>
  %3 = "weft.constant"() {value, dtype = i1} : () -> tensor<i1>
  %4 = "weft.constant"() {value = 1 : i64, dtype = i32} : () -> tensor<i32>
  "weft.return"(%0, %1, %2, %3, %4) : (tensor<i32>, tensor<i64>, tensor<f32>, tensor<i1>, tensor<i32>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0:
    %0 = "weft.constant"() {value = 1 : i64, dtype = i32} : () -> tensor<i32>
    %1 = "weft.constant"() {value = 1 : i64, dtype = i64} : () -> tensor<i64>
    %2 = "weft.constant"() {value = 1.0 : f64, dtype = f32} : () -> tensor<f32>
    %3 = "weft.constant"() {value, dtype = i1} : () -> tensor<i1>
    "weft.return"(%0, %1, %2, %3, %0) : (tensor<i32>, tensor<i64>, tensor<f32>, tensor<i1>, tensor<i32>) -> ()
  }) : () -> ()
}) : () -> ()
