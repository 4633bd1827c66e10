// RUN: promote-dtypes
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>):
  %0 = "weft.constant"() {value = 2 : i64, dtype = !weft.weak<int>} : () -> !weft.weak<int>
  %1 = "weft.mul"(%x, %0) : (tensor<?xf32, #weft.dims<n>>, !weft.weak<int>) -> tensor<?xf32, #weft.dims<n>>
  %2 = "weft.constant"() {value = 0.1 : f64, dtype = !weft.weak<float>} : () -> !weft.weak<float>
  %3 = "weft.add"(%1, %2) : (tensor<?xf32, #weft.dims<n>>, !weft.weak<float>) -> tensor<?xf32, #weft.dims<n>>
  "weft.return"(%3) : (tensor<?xf32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>):
    %0 = "weft.constant"() {value = 2.0 : f64, dtype = f32} : () -> tensor<f32>
    %1 = "weft.mul"(%x, %0) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xf32, #weft.dims<n>>
    %2 = "weft.constant"() {value = 0.10000000149011612 : f64, dtype = f32} : () -> tensor<f32>
    %3 = "weft.add"(%1, %2) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xf32, #weft.dims<n>>
    "weft.return"(%3) : (tensor<?xf32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
