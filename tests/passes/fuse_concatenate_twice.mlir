// RUN: fuse
// A piece lies in one place only, and a result has memory of its own: the others are copies.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>):
  %0 = "weft.exp"(%x) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  %1 = "weft.neg"(%x) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  %2 = "weft.concatenate"(%0, %1, %1) {axis = 0 : i64} : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<3*n>>
  "weft.return"(%0, %2) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<3*n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>):
    %0:4 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?xf32, #weft.dims<n>>):
      %1 = "weft.exp"(%x_1) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
      %2 = "weft.neg"(%x_1) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
      %3 = "weft.cast"(%1) {to = f32} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
      %4 = "weft.cast"(%2) {to = f32} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
      "weft.yield"(%1, %2, %3, %4) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> ()
    }) {space = #weft.dims<n>, reduced = array<i64>} : (tensor<?xf32, #weft.dims<n>>) -> (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>)
    %5 = "weft.concatenate"(%0#2, %0#1, %0#3) {axis = 0 : i64} : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<3*n>>
    "weft.return"(%0#0, %5) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<3*n>>) -> ()
  }) : () -> ()
}) : () -> ()
