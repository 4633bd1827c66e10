// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>, %y : tensor<?xf64, #weft.dims<n>>):
  %0 = "weft.cast"(%x) {to = f64} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf64, #weft.dims<n>>
  %1 = "weft.cast"(%0) {to = f32} : (tensor<?xf64, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  %2 = "weft.cast"(%x) {to = f32} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  %3 = "weft.cast"(%y) {to = f32} : (tensor<?xf64, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  %4 = "weft.cast"(%3) {to = f64} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf64, #weft.dims<n>>
  "weft.return"(%1, %2, %4) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>, tensor<?xf64, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>, %y : tensor<?xf64, #weft.dims<n>>):
    %0 = "weft.cast"(%x) {to = f64} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf64, #weft.dims<n>>
    %1 = "weft.cast"(%y) {to = f32} : (tensor<?xf64, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    %2 = "weft.cast"(%1) {to = f64} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf64, #weft.dims<n>>
    "weft.return"(%x, %x, %2) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>, tensor<?xf64, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
