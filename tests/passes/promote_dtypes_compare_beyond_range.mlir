// RUN: promote-dtypes
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xi32, #weft.dims<n>>):
  %0 = "weft.constant"() {value = 1099511627776 : i64, dtype = !weft.weak<int>} : () -> !weft.weak<int>
  %1 = "weft.lt"(%x, %0) : (tensor<?xi32, #weft.dims<n>>, !weft.weak<int>) -> tensor<?xi1, #weft.dims<n>>
  %2 = "weft.constant"() {value = 1099511627776 : i64, dtype = !weft.weak<int>} : () -> !weft.weak<int>
  %3 = "weft.le"(%2, %x) : (!weft.weak<int>, tensor<?xi32, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
  %4 = "weft.constant"() {value = -1180591620717411303424 : i64, dtype = !weft.weak<int>} : () -> !weft.weak<int>
  %5 = "weft.ne"(%x, %4) : (tensor<?xi32, #weft.dims<n>>, !weft.weak<int>) -> tensor<?xi1, #weft.dims<n>>
  "weft.return"(%1, %3, %5) : (tensor<?xi1, #weft.dims<n>>, tensor<?xi1, #weft.dims<n>>, tensor<?xi1, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xi32, #weft.dims<n>>):
    %0 = "weft.eq"(%x, %x) : (tensor<?xi32, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
    %1 = "weft.ne"(%x, %x) : (tensor<?xi32, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
    %2 = "weft.eq"(%x, %x) : (tensor<?xi32, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
    "weft.return"(%0, %1, %2) : (tensor<?xi1, #weft.dims<n>>, tensor<?xi1, #weft.dims<n>>, tensor<?xi1, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
