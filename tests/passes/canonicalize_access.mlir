// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.access"(%x) {shape = #weft.dims<m - 1, n>, starts = #weft.dims<n - 1, 1>, steps = #weft.dims<0, -1, 1, 0>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<m - 1, n>>
  %1 = "weft.access"(%x) {shape = #weft.dims<n, m - 2, 3>, starts = #weft.dims<0, 0>, steps = #weft.dims<1, 0, 0, 0, 1, 1>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?x3xf32, #weft.dims<n, m - 2, 3>>
  %2 = "weft.access"(%1) {shape = #weft.dims<m - 2, 2>, starts = #weft.dims<1, 0, 0>, steps = #weft.dims<0, 0, 1, 0, 0, 2>} : (tensor<?x?x3xf32, #weft.dims<n, m - 2, 3>>) -> tensor<?x2xf32, #weft.dims<m - 2, 2>>
  %3 = "weft.access"(%x) {shape = #weft.dims<n, m>, starts = #weft.dims<0, 0>, steps = #weft.dims<1, 0, 0, 1>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  "weft.return"(%0, %2, %3) : (tensor<?x?xf32, #weft.dims<m - 1, n>>, tensor<?x2xf32, #weft.dims<m - 2, 2>>, tensor<?x?xf32, #weft.dims<n, m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.slice"(%x) {starts = #weft.dims<n - 1, 1>, steps = array<i64: -1, 1>, sizes = #weft.dims<n, m - 1>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m - 1>>
    %1 = "weft.transpose"(%0) {order = array<i64: 1, 0>} : (tensor<?x?xf32, #weft.dims<n, m - 1>>) -> tensor<?x?xf32, #weft.dims<m - 1, n>>
    %2 = "weft.access"(%x) {shape = #weft.dims<n, m - 2, 3>, starts = #weft.dims<0, 0>, steps = #weft.dims<1, 0, 0, 0, 1, 1>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?x3xf32, #weft.dims<n, m - 2, 3>>
    %3 = "weft.access"(%x) {shape = #weft.dims<m - 2, 2>, starts = #weft.dims<1, 0>, steps = #weft.dims<0, 0, 1, 2>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x2xf32, #weft.dims<m - 2, 2>>
    "weft.return"(%1, %3, %x) : (tensor<?x?xf32, #weft.dims<m - 1, n>>, tensor<?x2xf32, #weft.dims<m - 2, 2>>, tensor<?x?xf32, #weft.dims<n, m>>) -> ()
  }) : () -> ()
}) : () -> ()
