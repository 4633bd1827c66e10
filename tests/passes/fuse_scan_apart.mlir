// RUN: fuse
// A scan along another axis, and a reduction over another one, walk by themselves.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.scan"(%x) {combine = "add", axis = 1 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  %1 = "weft.scan"(%0) {combine = "add", axis = 0 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  %2 = "weft.max"(%1) {axes = array<i64: 1>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xf32, #weft.dims<n>>
  "weft.return"(%2) : (tensor<?xf32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", unfused = ["scan[n, m] is not fused with scan[n, m]: they walk along different axes of [n, m]", "max[n] is not fused with scan[n, m]: they walk along different axes of [n, m]"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n, m>>):
      %1 = "weft.scan"(%x_1) {combine = "add", axis = 1 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      "weft.yield"(%1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64>, scanned = array<i64: 1>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    %2 = "weft.region"(%0) ({
    ^bb0(%in : tensor<?x?xf32, #weft.dims<n, m>>):
      %3 = "weft.scan"(%in) {combine = "add", axis = 0 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      "weft.yield"(%3) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64>, scanned = array<i64: 0>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    %4 = "weft.region"(%2) ({
    ^bb0(%in_1 : tensor<?x?xf32, #weft.dims<n, m>>):
      %5 = "weft.max"(%in_1) {axes = array<i64: 1>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xf32, #weft.dims<n>>
      "weft.yield"(%5) : (tensor<?xf32, #weft.dims<n>>) -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64: 1>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xf32, #weft.dims<n>>
    "weft.return"(%4) : (tensor<?xf32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
