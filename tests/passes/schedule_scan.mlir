// RUN: fuse,schedule
// Vectors lie across the scan where memory lets them, else along it.
"weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C", "C"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.scan"(%x) {combine = "add", axis = 0 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  %1 = "weft.scan"(%x) {combine = "add", axis = 1 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  "weft.return"(%0, %1) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x?xf32, #weft.dims<n, m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C", "C"], unfused = ["scan[n, m] is not fused with scan[n, m]: they walk along different axes of [n, m]"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n, m>>):
      %1 = "weft.scan"(%x_1) {combine = "add", axis = 0 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      "weft.yield"(%1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64>, scanned = array<i64: 0>, rows = ["1"], columns = ["0"], vector = 1 : i64, layouts = ["C", "C"], width = 8 : i64, unroll = 4 : i64, cost = 764 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    %2 = "weft.region"(%x) ({
    ^bb0(%x_2 : tensor<?x?xf32, #weft.dims<n, m>>):
      %3 = "weft.scan"(%x_2) {combine = "add", axis = 1 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      "weft.yield"(%3) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64>, scanned = array<i64: 1>, rows = ["0"], columns = ["1"], vector = 1 : i64, layouts = ["C", "C"], width = 8 : i64, unroll = 1 : i64, cost = 764 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    "weft.return"(%0, %2) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x?xf32, #weft.dims<n, m>>) -> ()
  }) : () -> ()
}) : () -> ()
