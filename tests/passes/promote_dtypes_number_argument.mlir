// RUN: promote-dtypes
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>, %k : !weft.weak<int>):
  %0 = "weft.mul"(%x, %k) : (tensor<?xf32, #weft.dims<n>>, !weft.weak<int>) -> tensor<?xf32, #weft.dims<n>>
  "weft.return"(%0) : (tensor<?xf32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>, %k : !weft.weak<int>):
    %0 = "weft.cast"(%k) {to = f64} : (!weft.weak<int>) -> tensor<f64>
    %1 = "weft.cast"(%0) {to = f32} : (tensor<f64>) -> tensor<f32>
    %2 = "weft.mul"(%x, %1) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xf32, #weft.dims<n>>
    "weft.return"(%2) : (tensor<?xf32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
