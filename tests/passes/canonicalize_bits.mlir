// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xi32, #weft.dims<n>>):
  %0 = "weft.constant"() {value = 0 : i64, dtype = i32} : () -> tensor<i32>
  %1 = "weft.bitwise_and"(%x, %0) : (tensor<?xi32, #weft.dims<n>>, tensor<i32>) -> tensor<?xi32, #weft.dims<n>>
  %2 = "weft.bitwise_or"(%x, %x) : (tensor<?xi32, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>) -> tensor<?xi32, #weft.dims<n>>
  %3 = "weft.constant"() {value = -1 : i64, dtype = i32} : () -> tensor<i32>
  %4 = "weft.bitwise_xor"(%x, %3) : (tensor<?xi32, #weft.dims<n>>, tensor<i32>) -> tensor<?xi32, #weft.dims<n>>
  "weft.return"(%1, %2, %4) : (tensor<?xi32, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xi32, #weft.dims<n>>):
    %0 = "weft.constant"() {value = 0 : i64, dtype = i32} : () -> tensor<i32>
    %1 = "weft.constant"() {value = 0 : i64, dtype = i32} : () -> tensor<i32>
    %2 = "weft.broadcast"(%1) {shape = #weft.dims<n>} : (tensor<i32>) -> tensor<?xi32, #weft.dims<n>>
    %3 = "weft.constant"() {value = -1 : i64, dtype = i32} : () -> tensor<i32>
    %4 = "weft.invert"(%x) : (tensor<?xi32, #weft.dims<n>>) -> tensor<?xi32, #weft.dims<n>>
    "weft.return"(%2, %x, %4) : (tensor<?xi32, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
