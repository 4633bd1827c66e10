// RUN: lower-positions
// Over several axes elements are counted in C order.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?x4x?xi32, #weft.dims<n, 4, m>>):
  %0 = "weft.argmin"(%x) {axes = array<i64: 0, 2>} : (tensor<?x4x?xi32, #weft.dims<n, 4, m>>) -> tensor<4xi64>
  "weft.return"(%0) : (tensor<4xi64>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?x4x?xi32, #weft.dims<n, 4, m>>):
    %0 = "weft.min"(%x) {axes = array<i64: 0, 2>, keepdims, refuses = "attempt to get argmin of an empty sequence"} : (tensor<?x4x?xi32, #weft.dims<n, 4, m>>) -> tensor<1x4x1xi32>
    %1 = "weft.eq"(%x, %0) : (tensor<?x4x?xi32, #weft.dims<n, 4, m>>, tensor<1x4x1xi32>) -> tensor<?x4x?xi1, #weft.dims<n, 4, m>>
    %2 = "weft.iota"() {shape = #weft.dims<m*n>, axis = 0 : i64} : () -> tensor<?xi64, #weft.dims<m*n>>
    %3 = "weft.reshape"(%2) {shape = #weft.dims<n, 1, m>} : (tensor<?xi64, #weft.dims<m*n>>) -> tensor<?x1x?xi64, #weft.dims<n, 1, m>>
    %4 = "weft.constant"() {value = 9223372036854775807 : i64, dtype = i64} : () -> tensor<i64>
    %5 = "weft.where"(%1, %3, %4) : (tensor<?x4x?xi1, #weft.dims<n, 4, m>>, tensor<?x1x?xi64, #weft.dims<n, 1, m>>, tensor<i64>) -> tensor<?x4x?xi64, #weft.dims<n, 4, m>>
    %6 = "weft.min"(%5) {axes = array<i64: 0, 2>, keepdims = false} : (tensor<?x4x?xi64, #weft.dims<n, 4, m>>) -> tensor<4xi64>
    "weft.return"(%6) : (tensor<4xi64>) -> ()
  }) : () -> ()
}) : () -> ()
