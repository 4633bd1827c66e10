// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.reshape"(%x) {shape = #weft.dims<m*n>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xf32, #weft.dims<m*n>>
  %1 = "weft.reshape"(%0) {shape = #weft.dims<m, n>} : (tensor<?xf32, #weft.dims<m*n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
  %2 = "weft.reshape"(%x) {shape = #weft.dims<m*n>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xf32, #weft.dims<m*n>>
  %3 = "weft.reshape"(%2) {shape = #weft.dims<n, m>} : (tensor<?xf32, #weft.dims<m*n>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  "weft.return"(%1, %3) : (tensor<?x?xf32, #weft.dims<m, n>>, tensor<?x?xf32, #weft.dims<n, m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.reshape"(%x) {shape = #weft.dims<m*n>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xf32, #weft.dims<m*n>>
    %1 = "weft.reshape"(%x) {shape = #weft.dims<m, n>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    %2 = "weft.reshape"(%x) {shape = #weft.dims<m*n>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xf32, #weft.dims<m*n>>
    "weft.return"(%1, %x) : (tensor<?x?xf32, #weft.dims<m, n>>, tensor<?x?xf32, #weft.dims<n, m>>) -> ()
  }) : () -> ()
}) : () -> ()
