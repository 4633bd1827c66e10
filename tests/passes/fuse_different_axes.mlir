// RUN: fuse
// Different axes are reduced: two regions, and a note that says so.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>):
  %0 = "weft.sum"(%x) {axes = array<i64: 0>, keepdims = false} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?xf32, #weft.dims<x1>>
  %1 = "weft.sum"(%x) {axes = array<i64: 1>, keepdims = false} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?xf32, #weft.dims<x0>>
  "weft.return"(%0, %1) : (tensor<?xf32, #weft.dims<x1>>, tensor<?xf32, #weft.dims<x0>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", unfused = ["sum[x0] is not fused with sum[x1]: they reduce different axes, (0,) and (1,) of [x0, x1]"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<x0, x1>>):
      %1 = "weft.sum"(%x_1) {axes = array<i64: 0>, keepdims = false} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?xf32, #weft.dims<x1>>
      "weft.yield"(%1) : (tensor<?xf32, #weft.dims<x1>>) -> ()
    }) {space = #weft.dims<x0, x1>, reduced = array<i64: 0>} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?xf32, #weft.dims<x1>>
    %2 = "weft.region"(%x) ({
    ^bb0(%x_2 : tensor<?x?xf32, #weft.dims<x0, x1>>):
      %3 = "weft.sum"(%x_2) {axes = array<i64: 1>, keepdims = false} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?xf32, #weft.dims<x0>>
      "weft.yield"(%3) : (tensor<?xf32, #weft.dims<x0>>) -> ()
    }) {space = #weft.dims<x0, x1>, reduced = array<i64: 1>} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?xf32, #weft.dims<x0>>
    "weft.return"(%0, %2) : (tensor<?xf32, #weft.dims<x1>>, tensor<?xf32, #weft.dims<x0>>) -> ()
  }) : () -> ()
}) : () -> ()
