// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xi32, #weft.dims<n>>):
  %0 = "weft.sub"(%x, %x) : (tensor<?xi32, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>) -> tensor<?xi32, #weft.dims<n>>
  %1 = "weft.constant"() {value = 2147483647 : i64, dtype = i32} : () -> tensor<i32>
  %2 = "weft.add"(%x, %1) : (tensor<?xi32, #weft.dims<n>>, tensor<i32>) -> tensor<?xi32, #weft.dims<n>>
  %3 = "weft.constant"() {value = 1 : i64, dtype = i32} : () -> tensor<i32>
  %4 = "weft.add"(%2, %3) : (tensor<?xi32, #weft.dims<n>>, tensor<i32>) -> tensor<?xi32, #weft.dims<n>>
  "weft.return"(%0, %4) : (tensor<?xi32, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xi32, #weft.dims<n>>):
    %0 = "weft.constant"() {value = 0 : i64, dtype = i32} : () -> tensor<i32>
    %1 = "weft.broadcast"(%0) {shape = #weft.dims<n>} : (tensor<i32>) -> tensor<?xi32, #weft.dims<n>>
    %2 = "weft.constant"() {value = 2147483647 : i64, dtype = i32} : () -> tensor<i32>
    %3 = "weft.add"(%x, %2) : (tensor<?xi32, #weft.dims<n>>, tensor<i32>) -> tensor<?xi32, #weft.dims<n>>
    %4 = "weft.constant"() {value = 1 : i64, dtype = i32} : () -> tensor<i32>
    %5 = "weft.constant"() {value = -2147483648 : i64, dtype = i32} : () -> tensor<i32>
    %6 = "weft.add"(%x, %5) : (tensor<?xi32, #weft.dims<n>>, tensor<i32>) -> tensor<?xi32, #weft.dims<n>>
    "weft.return"(%1, %6) : (tensor<?xi32, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
