// RUN: promote-dtypes
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>):
  %0 = "weft.constant"() {value = 1.5 : f64, dtype = !weft.weak<float>} : () -> !weft.weak<float>
  %1 = "weft.broadcast"(%0) {shape = #weft.dims<n, 4>} : (!weft.weak<float>) -> tensor<?x4xf64, #weft.dims<n, 4>>
  "weft.return"(%1) : (tensor<?x4xf64, #weft.dims<n, 4>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>):
    %0 = "weft.constant"() {value = 1.5 : f64, dtype = f64} : () -> tensor<f64>
    %1 = "weft.broadcast"(%0) {shape = #weft.dims<n, 4>} : (tensor<f64>) -> tensor<?x4xf64, #weft.dims<n, 4>>
    "weft.return"(%1) : (tensor<?x4xf64, #weft.dims<n, 4>>) -> ()
  }) : () -> ()
}) : () -> ()
