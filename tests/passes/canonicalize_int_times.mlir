// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xi32, #weft.dims<n>>):
  %0 = "weft.constant"() {value = 0 : i64, dtype = i32} : () -> tensor<i32>
  %1 = "weft.mul"(%x, %0) : (tensor<?xi32, #weft.dims<n>>, tensor<i32>) -> tensor<?xi32, #weft.dims<n>>
  %2 = "weft.constant"() {value = 8 : i64, dtype = i32} : () -> tensor<i32>
  %3 = "weft.mul"(%x, %2) : (tensor<?xi32, #weft.dims<n>>, tensor<i32>) -> tensor<?xi32, #weft.dims<n>>
  %4 = "weft.constant"() {value = -1 : i64, dtype = i32} : () -> tensor<i32>
  %5 = "weft.mul"(%x, %4) : (tensor<?xi32, #weft.dims<n>>, tensor<i32>) -> tensor<?xi32, #weft.dims<n>>
  "weft.return"(%1, %3, %5) : (tensor<?xi32, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xi32, #weft.dims<n>>):
    %0 = "weft.constant"() {value = 0 : i64, dtype = i32} : () -> tensor<i32>
    %1 = "weft.constant"() {value = 0 : i64, dtype = i32} : () -> tensor<i32>
    %2 = "weft.broadcast"(%1) {shape = #weft.dims<n>} : (tensor<i32>) -> tensor<?xi32, #weft.dims<n>>
    %3 = "weft.constant"() {value = 8 : i64, dtype = i32} : () -> tensor<i32>
    %4 = "weft.constant"() {value = 3 : i64, dtype = i32} : () -> tensor<i32>
    %5 = "weft.left_shift"(%x, %4) : (tensor<?xi32, #weft.dims<n>>, tensor<i32>) -> tensor<?xi32, #weft.dims<n>>
    %6 = "weft.constant"() {value = -1 : i64, dtype = i32} : () -> tensor<i32>
    %7 = "weft.neg"(%x) : (tensor<?xi32, #weft.dims<n>>) -> tensor<?xi32, #weft.dims<n>>
    "weft.return"(%2, %5, %7) : (tensor<?xi32, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
