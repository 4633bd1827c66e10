// RUN: promote-dtypes
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>, %y : tensor<?xf64, #weft.dims<n>>):
  %0 = "weft.constant"() {value = 1152921573326323713 : i64, dtype = !weft.weak<int>} : () -> !weft.weak<int>
  %1 = "weft.mul"(%x, %0) : (tensor<?xf32, #weft.dims<n>>, !weft.weak<int>) -> tensor<?xf32, #weft.dims<n>>
  %2 = "weft.constant"() {value = 9007199254740994 : i64, dtype = !weft.weak<int>} : () -> !weft.weak<int>
  %3 = "weft.add"(%y, %2) : (tensor<?xf64, #weft.dims<n>>, !weft.weak<int>) -> tensor<?xf64, #weft.dims<n>>
  "weft.return"(%1, %3) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf64, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>, %y : tensor<?xf64, #weft.dims<n>>):
    %0 = "weft.constant"() {value = 1.152921504606847e+18 : f64, dtype = f32} : () -> tensor<f32>
    %1 = "weft.mul"(%x, %0) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xf32, #weft.dims<n>>
    %2 = "weft.constant"() {value = 9007199254740994.0 : f64, dtype = f64} : () -> tensor<f64>
    %3 = "weft.add"(%y, %2) : (tensor<?xf64, #weft.dims<n>>, tensor<f64>) -> tensor<?xf64, #weft.dims<n>>
    "weft.return"(%1, %3) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf64, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
