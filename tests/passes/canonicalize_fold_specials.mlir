// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf64, #weft.dims<n>>):
  %0 = "weft.constant"() {value = 1.0 : f64, dtype = f64} : () -> tensor<f64>
  %1 = "weft.constant"() {value = 0.0 : f64, dtype = f64} : () -> tensor<f64>
  %2 = "weft.div"(%0, %1) : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %3 = "weft.add"(%x, %2) : (tensor<?xf64, #weft.dims<n>>, tensor<f64>) -> tensor<?xf64, #weft.dims<n>>
  %4 = "weft.div"(%1, %1) : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %5 = "weft.add"(%x, %4) : (tensor<?xf64, #weft.dims<n>>, tensor<f64>) -> tensor<?xf64, #weft.dims<n>>
  "weft.return"(%3, %5) : (tensor<?xf64, #weft.dims<n>>, tensor<?xf64, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf64, #weft.dims<n>>):
    %0 = "weft.constant"() {value = 1.0 : f64, dtype = f64} : () -> tensor<f64>
    %1 = "weft.constant"() {value = 0.0 : f64, dtype = f64} : () -> tensor<f64>
    %2 = "weft.constant"() {value = 0x7FF0000000000000 : f64, dtype = f64} : () -> tensor<f64>
    %3 = "weft.add"(%x, %2) : (tensor<?xf64, #weft.dims<n>>, tensor<f64>) -> tensor<?xf64, #weft.dims<n>>
    %4 = "weft.constant"() {value = 0x7FF8000000000000 : f64, dtype = f64} : () -> tensor<f64>
    %5 = "weft.add"(%x, %4) : (tensor<?xf64, #weft.dims<n>>, tensor<f64>) -> tensor<?xf64, #weft.dims<n>>
    "weft.return"(%3, %5) : (tensor<?xf64, #weft.dims<n>>, tensor<?xf64, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
