// RUN: fuse
// Where the largest is, the largest itself and a sum are found in one walk.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?x?xi64, #weft.dims<n, m>>):
  %0 = "weft.argmax"(%x) {axes = array<i64: 1>} : (tensor<?x?xi64, #weft.dims<n, m>>) -> tensor<?xi64, #weft.dims<n>>
  %1 = "weft.max"(%x) {axes = array<i64: 1>} : (tensor<?x?xi64, #weft.dims<n, m>>) -> tensor<?xi64, #weft.dims<n>>
  %2 = "weft.sum"(%x) {axes = array<i64: 1>} : (tensor<?x?xi64, #weft.dims<n, m>>) -> tensor<?xi64, #weft.dims<n>>
  "weft.return"(%0, %1, %2) : (tensor<?xi64, #weft.dims<n>>, tensor<?xi64, #weft.dims<n>>, tensor<?xi64, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?x?xi64, #weft.dims<n, m>>):
    %0:3 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xi64, #weft.dims<n, m>>):
      %1 = "weft.argmax"(%x_1) {axes = array<i64: 1>} : (tensor<?x?xi64, #weft.dims<n, m>>) -> tensor<?xi64, #weft.dims<n>>
      %2 = "weft.max"(%x_1) {axes = array<i64: 1>} : (tensor<?x?xi64, #weft.dims<n, m>>) -> tensor<?xi64, #weft.dims<n>>
      %3 = "weft.sum"(%x_1) {axes = array<i64: 1>} : (tensor<?x?xi64, #weft.dims<n, m>>) -> tensor<?xi64, #weft.dims<n>>
      "weft.yield"(%1, %2, %3) : (tensor<?xi64, #weft.dims<n>>, tensor<?xi64, #weft.dims<n>>, tensor<?xi64, #weft.dims<n>>) -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64: 1>} : (tensor<?x?xi64, #weft.dims<n, m>>) -> (tensor<?xi64, #weft.dims<n>>, tensor<?xi64, #weft.dims<n>>, tensor<?xi64, #weft.dims<n>>)
    "weft.return"(%0#0, %0#1, %0#2) : (tensor<?xi64, #weft.dims<n>>, tensor<?xi64, #weft.dims<n>>, tensor<?xi64, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
