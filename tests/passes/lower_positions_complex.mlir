// RUN: lower-positions
// Complex numbers have an order of their own.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xcomplex<f32>, #weft.dims<n>>):
  %0 = "weft.argmin"(%x) {axes = array<i64: 0>} : (tensor<?xcomplex<f32>, #weft.dims<n>>) -> tensor<i64>
  "weft.return"(%0) : (tensor<i64>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xcomplex<f32>, #weft.dims<n>>):
    %0 = "weft.argmin"(%x) {axes = array<i64: 0>} : (tensor<?xcomplex<f32>, #weft.dims<n>>) -> tensor<i64>
    "weft.return"(%0) : (tensor<i64>) -> ()
  }) : () -> ()
}) : () -> ()
