// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>):
  %0 = "weft.constant"() {value = 1 : i64, dtype = !weft.weak<int>} : () -> !weft.weak<int>
  %1 = "weft.mul"(%x, %0) : (tensor<?xf32, #weft.dims<n>>, !weft.weak<int>) -> tensor<?xf32, #weft.dims<n>>
  %2 = "weft.constant"() {value = 0 : i64, dtype = !weft.weak<int>} : () -> !weft.weak<int>
  %3 = "weft.add"(%1, %2) : (tensor<?xf32, #weft.dims<n>>, !weft.weak<int>) -> tensor<?xf32, #weft.dims<n>>
  "weft.return"(%3) : (tensor<?xf32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>):
    %0 = "weft.constant"() {value = 1 : i64, dtype = !weft.weak<int>} : () -> !weft.weak<int>
    %1 = "weft.mul"(%x, %0) : (tensor<?xf32, #weft.dims<n>>, !weft.weak<int>) -> tensor<?xf32, #weft.dims<n>>
    %2 = "weft.constant"() {value = 0 : i64, dtype = !weft.weak<int>} : () -> !weft.weak<int>
    %3 = "weft.add"(%1, %2) : (tensor<?xf32, #weft.dims<n>>, !weft.weak<int>) -> tensor<?xf32, #weft.dims<n>>
    "weft.return"(%3) : (tensor<?xf32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
