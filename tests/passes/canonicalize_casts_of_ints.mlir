// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xi32, #weft.dims<n>>):
  %0 = "weft.cast"(%x) {to = f64} : (tensor<?xi32, #weft.dims<n>>) -> tensor<?xf64, #weft.dims<n>>
  %1 = "weft.cast"(%0) {to = f32} : (tensor<?xf64, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  %2 = "weft.cast"(%x) {to = f32} : (tensor<?xi32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  %3 = "weft.cast"(%2) {to = f64} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf64, #weft.dims<n>>
  %4 = "weft.cast"(%x) {to = i64} : (tensor<?xi32, #weft.dims<n>>) -> tensor<?xi64, #weft.dims<n>>
  %5 = "weft.cast"(%4) {to = i32} : (tensor<?xi64, #weft.dims<n>>) -> tensor<?xi32, #weft.dims<n>>
  "weft.return"(%1, %3, %5) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf64, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xi32, #weft.dims<n>>):
    %0 = "weft.cast"(%x) {to = f64} : (tensor<?xi32, #weft.dims<n>>) -> tensor<?xf64, #weft.dims<n>>
    %1 = "weft.cast"(%x) {to = f32} : (tensor<?xi32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    %2 = "weft.cast"(%x) {to = f32} : (tensor<?xi32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    %3 = "weft.cast"(%2) {to = f64} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf64, #weft.dims<n>>
    %4 = "weft.cast"(%x) {to = i64} : (tensor<?xi32, #weft.dims<n>>) -> tensor<?xi64, #weft.dims<n>>
    "weft.return"(%1, %3, %x) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf64, #weft.dims<n>>, tensor<?xi32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
