// RUN: fuse,lower-reductions
// Rows that are looked up, with a weight for each: vectors lie along the rows, not along the indices and weights.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>, %at : tensor<?xi64, #weft.dims<k>>, %w : tensor<?x1xf32, #weft.dims<k, 1>>):
  %0 = "weft.gather"(%x, %at) {axes = array<i64: 0>} : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?xi64, #weft.dims<k>>) -> tensor<?x?xf32, #weft.dims<k, m>>
  %1 = "weft.mul"(%0, %w) : (tensor<?x?xf32, #weft.dims<k, m>>, tensor<?x1xf32, #weft.dims<k, 1>>) -> tensor<?x?xf32, #weft.dims<k, m>>
  %2 = "weft.sum"(%1) {axes = array<i64: 0>, keepdims = false} : (tensor<?x?xf32, #weft.dims<k, m>>) -> tensor<?xf32, #weft.dims<m>>
  "weft.return"(%2) : (tensor<?xf32, #weft.dims<m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>, %at : tensor<?xi64, #weft.dims<k>>, %w : tensor<?x1xf32, #weft.dims<k, 1>>):
    %0 = "weft.region"(%x, %at, %w) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n, m>>, %at_1 : tensor<?xi64, #weft.dims<k>>, %w_1 : tensor<?x1xf32, #weft.dims<k, 1>>):
      %1 = "weft.gather"(%x_1, %at_1) {axes = array<i64: 0>} : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?xi64, #weft.dims<k>>) -> tensor<?x?xf32, #weft.dims<k, m>>
      %2 = "weft.mul"(%1, %w_1) : (tensor<?x?xf32, #weft.dims<k, m>>, tensor<?x1xf32, #weft.dims<k, 1>>) -> tensor<?x?xf32, #weft.dims<k, m>>
      %3 = "weft.sum"(%2) {axes = array<i64: 0>, keepdims = false, order = ["0"], lanes = 1 : i64, steps = 16 : i64} : (tensor<?x?xf32, #weft.dims<k, m>>) -> tensor<?xf32, #weft.dims<m>>
      "weft.yield"(%3) : (tensor<?xf32, #weft.dims<m>>) -> ()
    }) {space = #weft.dims<k, m>, reduced = array<i64: 0>, rows = ["1"], columns = ["0"], vector = 1 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?xi64, #weft.dims<k>>, tensor<?x1xf32, #weft.dims<k, 1>>) -> tensor<?xf32, #weft.dims<m>>
    "weft.return"(%0) : (tensor<?xf32, #weft.dims<m>>) -> ()
  }) : () -> ()
}) : () -> ()
