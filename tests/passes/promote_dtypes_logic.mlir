// RUN: promote-dtypes
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>):
  %0 = "weft.constant"() {value = 3 : i64, dtype = !weft.weak<int>} : () -> !weft.weak<int>
  %1 = "weft.logical_and"(%x, %0) : (tensor<?xf32, #weft.dims<n>>, !weft.weak<int>) -> tensor<?xi1, #weft.dims<n>>
  "weft.return"(%1) : (tensor<?xi1, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>):
    %0 = "weft.cast"(%x) {to = i1} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
    %1 = "weft.constant"() {value, dtype = i1} : () -> tensor<i1>
    %2 = "weft.logical_and"(%0, %1) : (tensor<?xi1, #weft.dims<n>>, tensor<i1>) -> tensor<?xi1, #weft.dims<n>>
    "weft.return"(%2) : (tensor<?xi1, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
