// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>, %i : tensor<?xi32, #weft.dims<n>>):
  %0 = "weft.floor"(%x) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  %1 = "weft.ceil"(%0) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  %2 = "weft.floor"(%i) : (tensor<?xi32, #weft.dims<n>>) -> tensor<?xi32, #weft.dims<n>>
  "weft.return"(%1, %2) : (tensor<?xf32, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>, %i : tensor<?xi32, #weft.dims<n>>):
    %0 = "weft.floor"(%x) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    "weft.return"(%0, %i) : (tensor<?xf32, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
