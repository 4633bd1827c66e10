// RUN: promote-dtypes
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%c : tensor<?xi1, #weft.dims<n>>, %x : tensor<?xi32, #weft.dims<n>>):
  %0 = "weft.constant"() {value = 1099511627781 : i64, dtype = !weft.weak<int>} : () -> !weft.weak<int>
  %1 = "weft.where"(%c, %x, %0) : (tensor<?xi1, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>, !weft.weak<int>) -> tensor<?xi32, #weft.dims<n>>
  "weft.return"(%1) : (tensor<?xi32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%c : tensor<?xi1, #weft.dims<n>>, %x : tensor<?xi32, #weft.dims<n>>):
    %0 = "weft.constant"() {value = 5 : i64, dtype = i32} : () -> tensor<i32>
    %1 = "weft.where"(%c, %x, %0) : (tensor<?xi1, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>, tensor<i32>) -> tensor<?xi32, #weft.dims<n>>
    "weft.return"(%1) : (tensor<?xi32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
