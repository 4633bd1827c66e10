// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf64, #weft.dims<n>>):
  %0 = "weft.constant"() {value = 2.0 : f64, dtype = f64} : () -> tensor<f64>
  %1 = "weft.constant"() {value = 0.3 : f64, dtype = f64} : () -> tensor<f64>
  %2 = "weft.power"(%0, %1) : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %3 = "weft.mul"(%x, %2) : (tensor<?xf64, #weft.dims<n>>, tensor<f64>) -> tensor<?xf64, #weft.dims<n>>
  "weft.return"(%3) : (tensor<?xf64, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf64, #weft.dims<n>>):
    %0 = "weft.constant"() {value = 2.0 : f64, dtype = f64} : () -> tensor<f64>
    %1 = "weft.constant"() {value = 0.3 : f64, dtype = f64} : () -> tensor<f64>
    %2 = "weft.power"(%0, %1) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %3 = "weft.mul"(%x, %2) : (tensor<?xf64, #weft.dims<n>>, tensor<f64>) -> tensor<?xf64, #weft.dims<n>>
    "weft.return"(%3) : (tensor<?xf64, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
