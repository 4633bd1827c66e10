// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xi64, #weft.dims<n>>):
  %0 = "weft.constant"() {value = 4 : i64, dtype = i64} : () -> tensor<i64>
  %1 = "weft.floor_divide"(%x, %0) : (tensor<?xi64, #weft.dims<n>>, tensor<i64>) -> tensor<?xi64, #weft.dims<n>>
  %2 = "weft.remainder"(%x, %0) : (tensor<?xi64, #weft.dims<n>>, tensor<i64>) -> tensor<?xi64, #weft.dims<n>>
  %3 = "weft.constant"() {value = -4 : i64, dtype = i64} : () -> tensor<i64>
  %4 = "weft.floor_divide"(%x, %3) : (tensor<?xi64, #weft.dims<n>>, tensor<i64>) -> tensor<?xi64, #weft.dims<n>>
  "weft.return"(%1, %2, %4) : (tensor<?xi64, #weft.dims<n>>, tensor<?xi64, #weft.dims<n>>, tensor<?xi64, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xi64, #weft.dims<n>>):
    %0 = "weft.constant"() {value = 4 : i64, dtype = i64} : () -> tensor<i64>
    %1 = "weft.constant"() {value = 2 : i64, dtype = i64} : () -> tensor<i64>
    %2 = "weft.right_shift"(%x, %1) : (tensor<?xi64, #weft.dims<n>>, tensor<i64>) -> tensor<?xi64, #weft.dims<n>>
    %3 = "weft.constant"() {value = 3 : i64, dtype = i64} : () -> tensor<i64>
    %4 = "weft.bitwise_and"(%x, %3) : (tensor<?xi64, #weft.dims<n>>, tensor<i64>) -> tensor<?xi64, #weft.dims<n>>
    %5 = "weft.constant"() {value = -4 : i64, dtype = i64} : () -> tensor<i64>
    %6 = "weft.floor_divide"(%x, %5) : (tensor<?xi64, #weft.dims<n>>, tensor<i64>) -> tensor<?xi64, #weft.dims<n>>
    "weft.return"(%2, %4, %6) : (tensor<?xi64, #weft.dims<n>>, tensor<?xi64, #weft.dims<n>>, tensor<?xi64, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
