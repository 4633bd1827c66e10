// RUN: fuse
// What is computed before it is looked up is computed in full.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>, %i : tensor<?xi64, #weft.dims<k>>):
  %0 = "weft.exp"(%x) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  %1 = "weft.gather"(%0, %i) {axes = array<i64: 0>} : (tensor<?xf32, #weft.dims<n>>, tensor<?xi64, #weft.dims<k>>) -> tensor<?xf32, #weft.dims<k>>
  "weft.return"(%1) : (tensor<?xf32, #weft.dims<k>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", unfused = ["gather[k] is not fused with exp[n]: they iterate over different spaces, [n] and [k]"]}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>, %i : tensor<?xi64, #weft.dims<k>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?xf32, #weft.dims<n>>):
      %1 = "weft.exp"(%x_1) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
      "weft.yield"(%1) : (tensor<?xf32, #weft.dims<n>>) -> ()
    }) {space = #weft.dims<n>, reduced = array<i64>} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    %2 = "weft.region"(%0, %i) ({
    ^bb0(%in : tensor<?xf32, #weft.dims<n>>, %i_1 : tensor<?xi64, #weft.dims<k>>):
      %3 = "weft.gather"(%in, %i_1) {axes = array<i64: 0>} : (tensor<?xf32, #weft.dims<n>>, tensor<?xi64, #weft.dims<k>>) -> tensor<?xf32, #weft.dims<k>>
      "weft.yield"(%3) : (tensor<?xf32, #weft.dims<k>>) -> ()
    }) {space = #weft.dims<k>, reduced = array<i64>} : (tensor<?xf32, #weft.dims<n>>, tensor<?xi64, #weft.dims<k>>) -> tensor<?xf32, #weft.dims<k>>
    "weft.return"(%2) : (tensor<?xf32, #weft.dims<k>>) -> ()
  }) : () -> ()
}) : () -> ()
