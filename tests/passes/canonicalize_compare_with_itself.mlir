// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>, %i : tensor<?xi32, #weft.dims<n>>):
  %0 = "weft.ne"(%x, %x) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
  %1 = "weft.eq"(%x, %x) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
  %2 = "weft.lt"(%x, %x) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
  %3 = "weft.eq"(%i, %i) : (tensor<?xi32, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
  "weft.return"(%0, %1, %2, %3) : (tensor<?xi1, #weft.dims<n>>, tensor<?xi1, #weft.dims<n>>, tensor<?xi1, #weft.dims<n>>, tensor<?xi1, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>, %i : tensor<?xi32, #weft.dims<n>>):
    %0 = "weft.isnan"(%x) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
    %1 = "weft.eq"(%x, %x) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
    %2 = "weft.constant"() {value = false, dtype = i1} : () -> tensor<i1>
    %3 = "weft.broadcast"(%2) {shape = #weft.dims<n>} : (tensor<i1>) -> tensor<?xi1, #weft.dims<n>>
    %4 = "weft.constant"() {value, dtype = i1} : () -> tensor<i1>
    %5 = "weft.broadcast"(%4) {shape = #weft.dims<n>} : (tensor<i1>) -> tensor<?xi1, #weft.dims<n>>
    "weft.return"(%0, %1, %3, %5) : (tensor<?xi1, #weft.dims<n>>, tensor<?xi1, #weft.dims<n>>, tensor<?xi1, #weft.dims<n>>, tensor<?xi1, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
