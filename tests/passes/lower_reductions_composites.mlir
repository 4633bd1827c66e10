// RUN: fuse,lower-reductions
// A sum of exp(u - max(u)) may share the walk of the maximum; exp is needed again, so rows in a cache keep two walks.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>):
  %0 = "weft.max"(%x) {axes = array<i64: 1>, keepdims} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x1xf32, #weft.dims<x0, 1>>
  %1 = "weft.sub"(%x, %0) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x1xf32, #weft.dims<x0, 1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
  %2 = "weft.exp"(%1) : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
  %3 = "weft.sum"(%2) {axes = array<i64: 1>, keepdims} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x1xf32, #weft.dims<x0, 1>>
  %4 = "weft.div"(%2, %3) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x1xf32, #weft.dims<x0, 1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
  "weft.return"(%4) : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<x0, x1>>):
      %1 = "weft.max"(%x_1) {axes = array<i64: 1>, keepdims, order = ["1"], lanes = 64 : i64, steps = 0 : i64} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x1xf32, #weft.dims<x0, 1>>
      %2 = "weft.sub"(%x_1, %1) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x1xf32, #weft.dims<x0, 1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
      %3 = "weft.exp"(%2) : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
      %4 = "weft.sum"(%3) {axes = array<i64: 1>, keepdims, order = ["1"], lanes = 64 : i64, steps = 16 : i64, composite = "exp", chunk = 32 : i64, cut_from = 262144 : i64} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x1xf32, #weft.dims<x0, 1>>
      %5 = "weft.div"(%3, %4) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x1xf32, #weft.dims<x0, 1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
      "weft.yield"(%5) : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
    }) {space = #weft.dims<x0, x1>, reduced = array<i64: 1>, rows = ["0"], columns = ["1"], vector = 1 : i64} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
    "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
  }) : () -> ()
}) : () -> ()
