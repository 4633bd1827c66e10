// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xi1, #weft.dims<n>>):
  %0 = "weft.logical_not"(%x) : (tensor<?xi1, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
  %1 = "weft.logical_not"(%0) : (tensor<?xi1, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
  %2 = "weft.logical_and"(%x, %x) : (tensor<?xi1, #weft.dims<n>>, tensor<?xi1, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
  %3 = "weft.constant"() {value, dtype = i1} : () -> tensor<i1>
  %4 = "weft.logical_xor"(%x, %3) : (tensor<?xi1, #weft.dims<n>>, tensor<i1>) -> tensor<?xi1, #weft.dims<n>>
  "weft.return"(%1, %2, %4) : (tensor<?xi1, #weft.dims<n>>, tensor<?xi1, #weft.dims<n>>, tensor<?xi1, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xi1, #weft.dims<n>>):
    %0 = "weft.logical_not"(%x) : (tensor<?xi1, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
    %1 = "weft.constant"() {value, dtype = i1} : () -> tensor<i1>
    %2 = "weft.logical_not"(%x) : (tensor<?xi1, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
    "weft.return"(%x, %x, %2) : (tensor<?xi1, #weft.dims<n>>, tensor<?xi1, #weft.dims<n>>, tensor<?xi1, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
