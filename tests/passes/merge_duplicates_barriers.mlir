// RUN: merge-duplicates
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>):
  %0 = "weft.numpy"(%x) {function = "shuffle"} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  %1 = "weft.numpy"(%x) {function = "shuffle"} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  %2 = "weft.add"(%0, %1) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  "weft.return"(%2) : (tensor<?xf32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>):
    %0 = "weft.numpy"(%x) {function = "shuffle"} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    %1 = "weft.numpy"(%x) {function = "shuffle"} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    %2 = "weft.add"(%0, %1) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    "weft.return"(%2) : (tensor<?xf32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
