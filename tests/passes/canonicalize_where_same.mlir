// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%c : tensor<?xi1, #weft.dims<n>>, %x : tensor<?xf32, #weft.dims<n>>, %y : tensor<?xf32, #weft.dims<n>>):
  %0 = "weft.where"(%c, %x, %x) : (tensor<?xi1, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  %1 = "weft.logical_not"(%c) : (tensor<?xi1, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
  %2 = "weft.where"(%1, %x, %y) : (tensor<?xi1, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  "weft.return"(%0, %2) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%c : tensor<?xi1, #weft.dims<n>>, %x : tensor<?xf32, #weft.dims<n>>, %y : tensor<?xf32, #weft.dims<n>>):
    %0 = "weft.logical_not"(%c) : (tensor<?xi1, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
    %1 = "weft.where"(%c, %y, %x) : (tensor<?xi1, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    "weft.return"(%x, %1) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
