// RUN: promote-dtypes
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xi32, #weft.dims<n>>, %y : tensor<?xf32, #weft.dims<n>>):
  %0 = "weft.add"(%x, %y) : (tensor<?xi32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?xf64, #weft.dims<n>>
  "weft.return"(%0) : (tensor<?xf64, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xi32, #weft.dims<n>>, %y : tensor<?xf32, #weft.dims<n>>):
    %0 = "weft.cast"(%x) {to = f64} : (tensor<?xi32, #weft.dims<n>>) -> tensor<?xf64, #weft.dims<n>>
    %1 = "weft.cast"(%y) {to = f64} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf64, #weft.dims<n>>
    %2 = "weft.add"(%0, %1) : (tensor<?xf64, #weft.dims<n>>, tensor<?xf64, #weft.dims<n>>) -> tensor<?xf64, #weft.dims<n>>
    "weft.return"(%2) : (tensor<?xf64, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
