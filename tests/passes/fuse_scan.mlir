// RUN: fuse
// A scan is fused with what it is of and what reads it at its own index, reductions along its axis included.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.exp"(%x) : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  %1 = "weft.scan"(%0) {combine = "add", axis = 1 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  %2 = "weft.max"(%1) {axes = array<i64: 1>, keepdims} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x1xf32, #weft.dims<n, 1>>
  %3 = "weft.div"(%1, %2) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x1xf32, #weft.dims<n, 1>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  "weft.return"(%3) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n, m>>):
      %1 = "weft.exp"(%x_1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      %2 = "weft.scan"(%1) {combine = "add", axis = 1 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      %3 = "weft.max"(%2) {axes = array<i64: 1>, keepdims} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x1xf32, #weft.dims<n, 1>>
      %4 = "weft.div"(%2, %3) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x1xf32, #weft.dims<n, 1>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      "weft.yield"(%4) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64: 1>, scanned = array<i64: 1>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
  }) : () -> ()
}) : () -> ()
