// RUN: fuse
// A computed piece is written into its place by what computes it, an argument is copied there.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>):
  %0 = "weft.exp"(%x) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  %1 = "weft.concatenate"(%0, %x) {axis = 0 : i64} : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<2*n>>
  "weft.return"(%1) : (tensor<?xf32, #weft.dims<2*n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>):
    %0:2 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?xf32, #weft.dims<n>>):
      %1 = "weft.exp"(%x_1) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
      %2 = "weft.cast"(%x_1) {to = f32} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
      "weft.yield"(%1, %2) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> ()
    }) {space = #weft.dims<n>, reduced = array<i64>} : (tensor<?xf32, #weft.dims<n>>) -> (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>)
    %3 = "weft.concatenate"(%0#0, %0#1) {axis = 0 : i64} : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<2*n>>
    "weft.return"(%3) : (tensor<?xf32, #weft.dims<2*n>>) -> ()
  }) : () -> ()
}) : () -> ()
