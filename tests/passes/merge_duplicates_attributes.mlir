// RUN: merge-duplicates
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.sum"(%x) {axes = array<i64: 1>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xf32, #weft.dims<n>>
  %1 = "weft.sum"(%x) {axes = array<i64: 1>, keepdims} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x1xf32, #weft.dims<n, 1>>
  %2 = "weft.sum"(%x) {axes = array<i64: 0>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xf32, #weft.dims<m>>
  %3 = "weft.sum"(%x) {axes = array<i64: 1>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xf32, #weft.dims<n>>
  "weft.return"(%0, %1, %2, %3) : (tensor<?xf32, #weft.dims<n>>, tensor<?x1xf32, #weft.dims<n, 1>>, tensor<?xf32, #weft.dims<m>>, tensor<?xf32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.sum"(%x) {axes = array<i64: 1>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xf32, #weft.dims<n>>
    %1 = "weft.sum"(%x) {axes = array<i64: 1>, keepdims} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x1xf32, #weft.dims<n, 1>>
    %2 = "weft.sum"(%x) {axes = array<i64: 0>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xf32, #weft.dims<m>>
    "weft.return"(%0, %1, %2, %0) : (tensor<?xf32, #weft.dims<n>>, tensor<?x1xf32, #weft.dims<n, 1>>, tensor<?xf32, #weft.dims<m>>, tensor<?xf32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
