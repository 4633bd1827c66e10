// RUN: fuse,lower-reductions
// `b` lies apart along the reduced axis: vectors run along j, where `a` is one number.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%a : tensor<?x1x?xf64, #weft.dims<m, 1, k>>, %b : tensor<?x?xf64, #weft.dims<k, n>>):
  %0 = "weft.transpose"(%b) {order = array<i64: 1, 0>} : (tensor<?x?xf64, #weft.dims<k, n>>) -> tensor<?x?xf64, #weft.dims<n, k>>
  %1 = "weft.add"(%a, %0) : (tensor<?x1x?xf64, #weft.dims<m, 1, k>>, tensor<?x?xf64, #weft.dims<n, k>>) -> tensor<?x?x?xf64, #weft.dims<m, n, k>>
  %2 = "weft.min"(%1) {axes = array<i64: 2>, keepdims = false} : (tensor<?x?x?xf64, #weft.dims<m, n, k>>) -> tensor<?x?xf64, #weft.dims<m, n>>
  "weft.return"(%2) : (tensor<?x?xf64, #weft.dims<m, n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%a : tensor<?x1x?xf64, #weft.dims<m, 1, k>>, %b : tensor<?x?xf64, #weft.dims<k, n>>):
    %0 = "weft.region"(%b, %a) ({
    ^bb0(%b_1 : tensor<?x?xf64, #weft.dims<k, n>>, %a_1 : tensor<?x1x?xf64, #weft.dims<m, 1, k>>):
      %1 = "weft.transpose"(%b_1) {order = array<i64: 1, 0>} : (tensor<?x?xf64, #weft.dims<k, n>>) -> tensor<?x?xf64, #weft.dims<n, k>>
      %2 = "weft.add"(%a_1, %1) : (tensor<?x1x?xf64, #weft.dims<m, 1, k>>, tensor<?x?xf64, #weft.dims<n, k>>) -> tensor<?x?x?xf64, #weft.dims<m, n, k>>
      %3 = "weft.min"(%2) {axes = array<i64: 2>, keepdims = false, order = ["2"], lanes = 1 : i64, steps = 0 : i64} : (tensor<?x?x?xf64, #weft.dims<m, n, k>>) -> tensor<?x?xf64, #weft.dims<m, n>>
      "weft.yield"(%3) : (tensor<?x?xf64, #weft.dims<m, n>>) -> ()
    }) {space = #weft.dims<m, n, k>, reduced = array<i64: 2>, rows = ["0", "1"], columns = ["2"], vector = 1 : i64} : (tensor<?x?xf64, #weft.dims<k, n>>, tensor<?x1x?xf64, #weft.dims<m, 1, k>>) -> tensor<?x?xf64, #weft.dims<m, n>>
    "weft.return"(%0) : (tensor<?x?xf64, #weft.dims<m, n>>) -> ()
  }) : () -> ()
}) : () -> ()
