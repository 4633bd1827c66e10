// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>, %y : tensor<?xf32, #weft.dims<n>>):
  %0 = "weft.eq"(%x, %y) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
  %1 = "weft.logical_not"(%0) : (tensor<?xi1, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
  %2 = "weft.lt"(%x, %y) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
  %3 = "weft.logical_not"(%2) : (tensor<?xi1, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
  "weft.return"(%1, %3) : (tensor<?xi1, #weft.dims<n>>, tensor<?xi1, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>, %y : tensor<?xf32, #weft.dims<n>>):
    %0 = "weft.eq"(%x, %y) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
    %1 = "weft.ne"(%x, %y) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
    %2 = "weft.lt"(%x, %y) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
    %3 = "weft.logical_not"(%2) : (tensor<?xi1, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
    "weft.return"(%1, %3) : (tensor<?xi1, #weft.dims<n>>, tensor<?xi1, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
