// RUN: lower-positions
// The first NaN is found by itself: the extreme is NaN then, and equal to nothing.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.argmax"(%x) {axes = array<i64: 1>, keepdims} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x1xi64, #weft.dims<n, 1>>
  "weft.return"(%0) : (tensor<?x1xi64, #weft.dims<n, 1>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.max"(%x) {axes = array<i64: 1>, keepdims, refuses = "attempt to get argmax of an empty sequence"} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x1xf32, #weft.dims<n, 1>>
    %1 = "weft.eq"(%x, %0) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x1xf32, #weft.dims<n, 1>>) -> tensor<?x?xi1, #weft.dims<n, m>>
    %2 = "weft.isnan"(%x) : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xi1, #weft.dims<n, m>>
    %3 = "weft.logical_or"(%1, %2) : (tensor<?x?xi1, #weft.dims<n, m>>, tensor<?x?xi1, #weft.dims<n, m>>) -> tensor<?x?xi1, #weft.dims<n, m>>
    %4 = "weft.iota"() {shape = #weft.dims<1, m>, axis = 1 : i64} : () -> tensor<1x?xi64, #weft.dims<1, m>>
    %5 = "weft.constant"() {value = 9223372036854775807 : i64, dtype = i64} : () -> tensor<i64>
    %6 = "weft.where"(%3, %4, %5) : (tensor<?x?xi1, #weft.dims<n, m>>, tensor<1x?xi64, #weft.dims<1, m>>, tensor<i64>) -> tensor<?x?xi64, #weft.dims<n, m>>
    %7 = "weft.min"(%6) {axes = array<i64: 1>, keepdims} : (tensor<?x?xi64, #weft.dims<n, m>>) -> tensor<?x1xi64, #weft.dims<n, 1>>
    "weft.return"(%7) : (tensor<?x1xi64, #weft.dims<n, 1>>) -> ()
  }) : () -> ()
}) : () -> ()
