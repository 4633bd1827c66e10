// RUN: select-kernels
// What was chosen before stays as it is; only the op without a choice gets one.
"weft.kernel"() <{sym_name = "f", chosen = ["cube: inline custom f, score 10"]}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>):
  %0 = "weft.mul"(%x, %x) {impl = "inline tiled", score = 7 : i64} : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  %1 = "weft.numpy"(%0) {function = "ranks", call = 0 : i64, impl = "python custom", score = 10 : i64} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  %2 = "weft.exp"(%1) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  "weft.return"(%2) : (tensor<?xf32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", chosen = ["cube: inline custom f, score 10"]}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>):
    %0 = "weft.mul"(%x, %x) {impl = "inline tiled", score = 7 : i64} : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    %1 = "weft.numpy"(%0) {function = "ranks", call = 0 : i64, impl = "python custom", score = 10 : i64} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    %2 = "weft.exp"(%1) {impl = "inline vectorized", score = 40 : i64} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    "weft.return"(%2) : (tensor<?xf32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
