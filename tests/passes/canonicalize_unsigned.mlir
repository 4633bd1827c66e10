// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xui8, #weft.dims<n>>):
  %0 = "weft.neg"(%x) : (tensor<?xui8, #weft.dims<n>>) -> tensor<?xui8, #weft.dims<n>>
  %1 = "weft.abs"(%0) : (tensor<?xui8, #weft.dims<n>>) -> tensor<?xui8, #weft.dims<n>>
  %2 = "weft.square"(%0) : (tensor<?xui8, #weft.dims<n>>) -> tensor<?xui8, #weft.dims<n>>
  %3 = "weft.conjugate"(%1) : (tensor<?xui8, #weft.dims<n>>) -> tensor<?xui8, #weft.dims<n>>
  "weft.return"(%1, %2, %3) : (tensor<?xui8, #weft.dims<n>>, tensor<?xui8, #weft.dims<n>>, tensor<?xui8, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xui8, #weft.dims<n>>):
    %0 = "weft.neg"(%x) : (tensor<?xui8, #weft.dims<n>>) -> tensor<?xui8, #weft.dims<n>>
    %1 = "weft.square"(%x) : (tensor<?xui8, #weft.dims<n>>) -> tensor<?xui8, #weft.dims<n>>
    "weft.return"(%0, %1, %0) : (tensor<?xui8, #weft.dims<n>>, tensor<?xui8, #weft.dims<n>>, tensor<?xui8, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
