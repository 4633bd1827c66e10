// RUN: promote-dtypes
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>):
  %0 = "weft.constant"() {value = 2 : i64, dtype = !weft.weak<int>} : () -> !weft.weak<int>
  %1 = "weft.numpy"(%x, %0) {function = "clip"} : (tensor<?xf32, #weft.dims<n>>, !weft.weak<int>) -> tensor<?xf32, #weft.dims<n>>
  "weft.return"(%1) : (tensor<?xf32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>):
    %0 = "weft.constant"() {value = 2 : i64, dtype = !weft.weak<int>} : () -> !weft.weak<int>
    %1 = "weft.numpy"(%x, %0) {function = "clip"} : (tensor<?xf32, #weft.dims<n>>, !weft.weak<int>) -> tensor<?xf32, #weft.dims<n>>
    "weft.return"(%1) : (tensor<?xf32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
