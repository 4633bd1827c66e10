// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%i : tensor<?xi64, #weft.dims<n>>):
  %0 = "weft.constant"() {value = 3 : i64, dtype = i64} : () -> tensor<i64>
  %1 = "weft.constant"() {value = 4 : i64, dtype = i64} : () -> tensor<i64>
  %2 = "weft.power"(%0, %1) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %3 = "weft.mul"(%i, %2) : (tensor<?xi64, #weft.dims<n>>, tensor<i64>) -> tensor<?xi64, #weft.dims<n>>
  "weft.return"(%3) : (tensor<?xi64, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%i : tensor<?xi64, #weft.dims<n>>):
    %0 = "weft.constant"() {value = 3 : i64, dtype = i64} : () -> tensor<i64>
    %1 = "weft.constant"() {value = 4 : i64, dtype = i64} : () -> tensor<i64>
    %2 = "weft.constant"() {value = 81 : i64, dtype = i64} : () -> tensor<i64>
    %3 = "weft.mul"(%i, %2) : (tensor<?xi64, #weft.dims<n>>, tensor<i64>) -> tensor<?xi64, #weft.dims<n>>
    "weft.return"(%3) : (tensor<?xi64, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
