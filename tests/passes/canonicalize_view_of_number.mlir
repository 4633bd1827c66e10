// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.constant"() {value = 1.5 : f64, dtype = f32} : () -> tensor<f32>
  %1 = "weft.broadcast"(%0) {shape = #weft.dims<n, m>} : (tensor<f32>) -> tensor<?x?xf32, #weft.dims<n, m>>
  %2 = "weft.transpose"(%1) {order = array<i64: 1, 0>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<m, n>>
  "weft.return"(%2) : (tensor<?x?xf32, #weft.dims<m, n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.constant"() {value = 1.5 : f64, dtype = f32} : () -> tensor<f32>
    %1 = "weft.broadcast"(%0) {shape = #weft.dims<n, m>} : (tensor<f32>) -> tensor<?x?xf32, #weft.dims<n, m>>
    %2 = "weft.broadcast"(%0) {shape = #weft.dims<m, n>} : (tensor<f32>) -> tensor<?x?xf32, #weft.dims<m, n>>
    "weft.return"(%2) : (tensor<?x?xf32, #weft.dims<m, n>>) -> ()
  }) : () -> ()
}) : () -> ()
