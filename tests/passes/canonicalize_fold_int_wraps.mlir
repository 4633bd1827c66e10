// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xi32, #weft.dims<n>>):
  %0 = "weft.constant"() {value = 2147483647 : i64, dtype = i32} : () -> tensor<i32>
  %1 = "weft.constant"() {value = 1 : i64, dtype = i32} : () -> tensor<i32>
  %2 = "weft.add"(%0, %1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %3 = "weft.bitwise_xor"(%x, %2) : (tensor<?xi32, #weft.dims<n>>, tensor<i32>) -> tensor<?xi32, #weft.dims<n>>
  "weft.return"(%3) : (tensor<?xi32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xi32, #weft.dims<n>>):
    %0 = "weft.constant"() {value = 2147483647 : i64, dtype = i32} : () -> tensor<i32>
    %1 = "weft.constant"() {value = 1 : i64, dtype = i32} : () -> tensor<i32>
    %2 = "weft.constant"() {value = -2147483648 : i64, dtype = i32} : () -> tensor<i32>
    %3 = "weft.bitwise_xor"(%x, %2) : (tensor<?xi32, #weft.dims<n>>, tensor<i32>) -> tensor<?xi32, #weft.dims<n>>
    "weft.return"(%3) : (tensor<?xi32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
