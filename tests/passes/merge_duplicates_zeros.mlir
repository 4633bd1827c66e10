// RUN: merge-duplicates
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf64, #weft.dims<n>>):
  %0 = "weft.constant"() {value = 0.0 : f64, dtype = f64} : () -> tensor<f64>
  %1 = "weft.add"(%x, %0) : (tensor<?xf64, #weft.dims<n>>, tensor<f64>) -> tensor<?xf64, #weft.dims<n>>
  %2 = "weft.constant"() {value = -0.0 : f64, dtype = f64} : () -> tensor<f64>
  %3 = "weft.constant"() {value = 0.0 : f64, dtype = f64} : () -> tensor<f64>
  %4 = "weft.mul"(%2, %3) : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %5 = "weft.add"(%1, %4) : (tensor<?xf64, #weft.dims<n>>, tensor<f64>) -> tensor<?xf64, #weft.dims<n>>
  "weft.return"(%5) : (tensor<?xf64, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf64, #weft.dims<n>>):
    %0 = "weft.constant"() {value = 0.0 : f64, dtype = f64} : () -> tensor<f64>
    %1 = "weft.add"(%x, %0) : (tensor<?xf64, #weft.dims<n>>, tensor<f64>) -> tensor<?xf64, #weft.dims<n>>
    %2 = "weft.constant"() {value = -0.0 : f64, dtype = f64} : () -> tensor<f64>
    %3 = "weft.mul"(%2, %0) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %4 = "weft.add"(%1, %3) : (tensor<?xf64, #weft.dims<n>>, tensor<f64>) -> tensor<?xf64, #weft.dims<n>>
    "weft.return"(%4) : (tensor<?xf64, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
