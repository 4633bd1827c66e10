// RUN: promote-dtypes
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?x?xi32, #weft.dims<n, m>>):
  %0 = "weft.sum"(%x) {axes = array<i64: 1>, keepdims} : (tensor<?x?xi32, #weft.dims<n, m>>) -> tensor<?x1xi64, #weft.dims<n, 1>>
  "weft.return"(%0) : (tensor<?x1xi64, #weft.dims<n, 1>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?x?xi32, #weft.dims<n, m>>):
    %0 = "weft.cast"(%x) {to = i64} : (tensor<?x?xi32, #weft.dims<n, m>>) -> tensor<?x?xi64, #weft.dims<n, m>>
    %1 = "weft.sum"(%0) {axes = array<i64: 1>, keepdims} : (tensor<?x?xi64, #weft.dims<n, m>>) -> tensor<?x1xi64, #weft.dims<n, 1>>
    "weft.return"(%1) : (tensor<?x1xi64, #weft.dims<n, 1>>) -> ()
  }) : () -> ()
}) : () -> ()
