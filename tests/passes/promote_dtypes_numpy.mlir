// RUN: promote-dtypes
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>, %k : !weft.weak<float>):
  %0 = "weft.constant"() {value = 2 : i64, dtype = !weft.weak<int>} : () -> !weft.weak<int>
  %1 = "weft.add"(%x, %0) : (tensor<?xf32, #weft.dims<n>>, !weft.weak<int>) -> tensor<?xf32, #weft.dims<n>>
  %2 = "weft.numpy"(%1, %0, %k) {function = "clip"} : (tensor<?xf32, #weft.dims<n>>, !weft.weak<int>, !weft.weak<float>) -> tensor<?xf32, #weft.dims<n>>
  "weft.return"(%2) : (tensor<?xf32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>, %k : !weft.weak<float>):
    %0 = "weft.constant"() {value = 2.0 : f64, dtype = f32} : () -> tensor<f32>
    %1 = "weft.add"(%x, %0) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xf32, #weft.dims<n>>
    %2 = "weft.constant"() {value = 2 : i64, dtype = !weft.weak<int>} : () -> !weft.weak<int>
    %3 = "weft.numpy"(%1, %2, %k) {function = "clip"} : (tensor<?xf32, #weft.dims<n>>, !weft.weak<int>, !weft.weak<float>) -> tensor<?xf32, #weft.dims<n>>
    "weft.return"(%3) : (tensor<?xf32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
