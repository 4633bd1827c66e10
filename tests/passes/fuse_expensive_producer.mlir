// RUN: fuse
// exp is needed at two indices: it is computed once, into memory.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<x0>>):
  %0 = "weft.exp"(%x) : (tensor<?xf32, #weft.dims<x0>>) -> tensor<?xf32, #weft.dims<x0>>
  %1 = "weft.slice"(%0) {starts = #weft.dims<1>, steps = array<i64: 1>, sizes = #weft.dims<max(0, x0 - 1)>} : (tensor<?xf32, #weft.dims<x0>>) -> tensor<?xf32, #weft.dims<max(0, x0 - 1)>>
  %2 = "weft.slice"(%0) {starts = #weft.dims<0>, steps = array<i64: 1>, sizes = #weft.dims<max(0, x0 - 1)>} : (tensor<?xf32, #weft.dims<x0>>) -> tensor<?xf32, #weft.dims<max(0, x0 - 1)>>
  %3 = "weft.sub"(%1, %2) : (tensor<?xf32, #weft.dims<max(0, x0 - 1)>>, tensor<?xf32, #weft.dims<max(0, x0 - 1)>>) -> tensor<?xf32, #weft.dims<max(0, x0 - 1)>>
  "weft.return"(%3) : (tensor<?xf32, #weft.dims<max(0, x0 - 1)>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", unfused = ["sub[max(0, x0 - 1)] is not fused with exp[x0]: they iterate over different spaces, [x0] and [max(0, x0 - 1)]"]}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<x0>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?xf32, #weft.dims<x0>>):
      %1 = "weft.exp"(%x_1) : (tensor<?xf32, #weft.dims<x0>>) -> tensor<?xf32, #weft.dims<x0>>
      "weft.yield"(%1) : (tensor<?xf32, #weft.dims<x0>>) -> ()
    }) {space = #weft.dims<x0>, reduced = array<i64>} : (tensor<?xf32, #weft.dims<x0>>) -> tensor<?xf32, #weft.dims<x0>>
    %2 = "weft.region"(%0) ({
    ^bb0(%in : tensor<?xf32, #weft.dims<x0>>):
      %3 = "weft.slice"(%in) {starts = #weft.dims<1>, steps = array<i64: 1>, sizes = #weft.dims<max(0, x0 - 1)>} : (tensor<?xf32, #weft.dims<x0>>) -> tensor<?xf32, #weft.dims<max(0, x0 - 1)>>
      %4 = "weft.slice"(%in) {starts = #weft.dims<0>, steps = array<i64: 1>, sizes = #weft.dims<max(0, x0 - 1)>} : (tensor<?xf32, #weft.dims<x0>>) -> tensor<?xf32, #weft.dims<max(0, x0 - 1)>>
      %5 = "weft.sub"(%3, %4) : (tensor<?xf32, #weft.dims<max(0, x0 - 1)>>, tensor<?xf32, #weft.dims<max(0, x0 - 1)>>) -> tensor<?xf32, #weft.dims<max(0, x0 - 1)>>
      "weft.yield"(%5) : (tensor<?xf32, #weft.dims<max(0, x0 - 1)>>) -> ()
    }) {space = #weft.dims<max(0, x0 - 1)>, reduced = array<i64>} : (tensor<?xf32, #weft.dims<x0>>) -> tensor<?xf32, #weft.dims<max(0, x0 - 1)>>
    "weft.return"(%2) : (tensor<?xf32, #weft.dims<max(0, x0 - 1)>>) -> ()
  }) : () -> ()
}) : () -> ()
