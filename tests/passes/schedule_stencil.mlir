// RUN: fuse,lower-reductions,schedule
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%v : tensor<?x?xf64, #weft.dims<n, m>>):
  %0 = "weft.slice"(%v) {starts = #weft.dims<0, 1>, steps = array<i64: 1, 1>, sizes = #weft.dims<n - 2, m - 2>} : (tensor<?x?xf64, #weft.dims<n, m>>) -> tensor<?x?xf64, #weft.dims<n - 2, m - 2>>
  %1 = "weft.slice"(%v) {starts = #weft.dims<1, 1>, steps = array<i64: 1, 1>, sizes = #weft.dims<n - 2, m - 2>} : (tensor<?x?xf64, #weft.dims<n, m>>) -> tensor<?x?xf64, #weft.dims<n - 2, m - 2>>
  %2 = "weft.slice"(%v) {starts = #weft.dims<2, 1>, steps = array<i64: 1, 1>, sizes = #weft.dims<n - 2, m - 2>} : (tensor<?x?xf64, #weft.dims<n, m>>) -> tensor<?x?xf64, #weft.dims<n - 2, m - 2>>
  %3 = "weft.add"(%0, %1) : (tensor<?x?xf64, #weft.dims<n - 2, m - 2>>, tensor<?x?xf64, #weft.dims<n - 2, m - 2>>) -> tensor<?x?xf64, #weft.dims<n - 2, m - 2>>
  %4 = "weft.add"(%3, %2) : (tensor<?x?xf64, #weft.dims<n - 2, m - 2>>, tensor<?x?xf64, #weft.dims<n - 2, m - 2>>) -> tensor<?x?xf64, #weft.dims<n - 2, m - 2>>
  "weft.return"(%4) : (tensor<?x?xf64, #weft.dims<n - 2, m - 2>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%v : tensor<?x?xf64, #weft.dims<n, m>>):
    %0 = "weft.region"(%v) ({
    ^bb0(%v_1 : tensor<?x?xf64, #weft.dims<n, m>>):
      %1 = "weft.slice"(%v_1) {starts = #weft.dims<0, 1>, steps = array<i64: 1, 1>, sizes = #weft.dims<n - 2, m - 2>} : (tensor<?x?xf64, #weft.dims<n, m>>) -> tensor<?x?xf64, #weft.dims<n - 2, m - 2>>
      %2 = "weft.slice"(%v_1) {starts = #weft.dims<1, 1>, steps = array<i64: 1, 1>, sizes = #weft.dims<n - 2, m - 2>} : (tensor<?x?xf64, #weft.dims<n, m>>) -> tensor<?x?xf64, #weft.dims<n - 2, m - 2>>
      %3 = "weft.add"(%1, %2) : (tensor<?x?xf64, #weft.dims<n - 2, m - 2>>, tensor<?x?xf64, #weft.dims<n - 2, m - 2>>) -> tensor<?x?xf64, #weft.dims<n - 2, m - 2>>
      %4 = "weft.slice"(%v_1) {starts = #weft.dims<2, 1>, steps = array<i64: 1, 1>, sizes = #weft.dims<n - 2, m - 2>} : (tensor<?x?xf64, #weft.dims<n, m>>) -> tensor<?x?xf64, #weft.dims<n - 2, m - 2>>
      %5 = "weft.add"(%3, %4) : (tensor<?x?xf64, #weft.dims<n - 2, m - 2>>, tensor<?x?xf64, #weft.dims<n - 2, m - 2>>) -> tensor<?x?xf64, #weft.dims<n - 2, m - 2>>
      "weft.yield"(%5) : (tensor<?x?xf64, #weft.dims<n - 2, m - 2>>) -> ()
    }) {space = #weft.dims<n - 2, m - 2>, reduced = array<i64>, rows = ["0", "1"], columns = array<i64>, vector = 1 : i64, layouts = ["C", "C"], width = 4 : i64, unroll = 4 : i64, cost = 208 : i64, jam = array<i64: 0, 2>, piece = array<i64: 16>} : (tensor<?x?xf64, #weft.dims<n, m>>) -> tensor<?x?xf64, #weft.dims<n - 2, m - 2>>
    "weft.return"(%0) : (tensor<?x?xf64, #weft.dims<n - 2, m - 2>>) -> ()
  }) : () -> ()
}) : () -> ()
