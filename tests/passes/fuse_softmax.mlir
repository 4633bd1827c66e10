// RUN: fuse
// Reductions over the same rows share a region with what follows.
"weft.kernel"() <{sym_name = "f", guards = ["max(1, x1) == x1"]}> ({
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
  "weft.kernel"() <{sym_name = "f", guards = ["max(1, x1) == x1"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<x0, x1>>):
      %1 = "weft.max"(%x_1) {axes = array<i64: 1>, keepdims} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x1xf32, #weft.dims<x0, 1>>
      %2 = "weft.sub"(%x_1, %1) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x1xf32, #weft.dims<x0, 1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
      %3 = "weft.exp"(%2) : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
      %4 = "weft.sum"(%3) {axes = array<i64: 1>, keepdims} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x1xf32, #weft.dims<x0, 1>>
      %5 = "weft.div"(%3, %4) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x1xf32, #weft.dims<x0, 1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
      "weft.yield"(%5) : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
    }) {space = #weft.dims<x0, x1>, reduced = array<i64: 1>} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
    "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
  }) : () -> ()
}) : () -> ()
