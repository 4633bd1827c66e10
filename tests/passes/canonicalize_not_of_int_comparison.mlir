// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xi32, #weft.dims<n>>, %y : tensor<?xi32, #weft.dims<n>>):
  %0 = "weft.lt"(%x, %y) : (tensor<?xi32, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
  %1 = "weft.logical_not"(%0) : (tensor<?xi1, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
  "weft.return"(%1) : (tensor<?xi1, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xi32, #weft.dims<n>>, %y : tensor<?xi32, #weft.dims<n>>):
    %0 = "weft.lt"(%x, %y) : (tensor<?xi32, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
    %1 = "weft.ge"(%x, %y) : (tensor<?xi32, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
    "weft.return"(%1) : (tensor<?xi1, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
