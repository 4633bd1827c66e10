// RUN: lower-positions,fuse
// The extreme and the first place that has it are two stages of one region.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?x?xi32, #weft.dims<n, m>>):
  %0 = "weft.argmax"(%x) {axes = array<i64: 1>} : (tensor<?x?xi32, #weft.dims<n, m>>) -> tensor<?xi64, #weft.dims<n>>
  "weft.return"(%0) : (tensor<?xi64, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?x?xi32, #weft.dims<n, m>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xi32, #weft.dims<n, m>>):
      %1 = "weft.max"(%x_1) {axes = array<i64: 1>, keepdims, refuses = "attempt to get argmax of an empty sequence"} : (tensor<?x?xi32, #weft.dims<n, m>>) -> tensor<?x1xi32, #weft.dims<n, 1>>
      %2 = "weft.eq"(%x_1, %1) : (tensor<?x?xi32, #weft.dims<n, m>>, tensor<?x1xi32, #weft.dims<n, 1>>) -> tensor<?x?xi1, #weft.dims<n, m>>
      %3 = "weft.iota"() {shape = #weft.dims<1, m>, axis = 1 : i64} : () -> tensor<1x?xi64, #weft.dims<1, m>>
      %4 = "weft.constant"() {value = 9223372036854775807 : i64, dtype = i64} : () -> tensor<i64>
      %5 = "weft.where"(%2, %3, %4) : (tensor<?x?xi1, #weft.dims<n, m>>, tensor<1x?xi64, #weft.dims<1, m>>, tensor<i64>) -> tensor<?x?xi64, #weft.dims<n, m>>
      %6 = "weft.min"(%5) {axes = array<i64: 1>, keepdims = false} : (tensor<?x?xi64, #weft.dims<n, m>>) -> tensor<?xi64, #weft.dims<n>>
      "weft.yield"(%6) : (tensor<?xi64, #weft.dims<n>>) -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64: 1>} : (tensor<?x?xi32, #weft.dims<n, m>>) -> tensor<?xi64, #weft.dims<n>>
    "weft.return"(%0) : (tensor<?xi64, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
