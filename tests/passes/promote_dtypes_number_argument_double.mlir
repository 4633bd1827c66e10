// RUN: promote-dtypes
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf64, #weft.dims<n>>, %k : !weft.weak<int>):
  %0 = "weft.mul"(%x, %k) : (tensor<?xf64, #weft.dims<n>>, !weft.weak<int>) -> tensor<?xf64, #weft.dims<n>>
  "weft.return"(%0) : (tensor<?xf64, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf64, #weft.dims<n>>, %k : !weft.weak<int>):
    %0 = "weft.cast"(%k) {to = f64} : (!weft.weak<int>) -> tensor<f64>
    %1 = "weft.mul"(%x, %0) : (tensor<?xf64, #weft.dims<n>>, tensor<f64>) -> tensor<?xf64, #weft.dims<n>>
    "weft.return"(%1) : (tensor<?xf64, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
