// RUN: promote-dtypes
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>, %i : tensor<?xi64, #weft.dims<n>>):
  %0 = "weft.constant"() {value = 0.1 : f64, dtype = !weft.weak<float>} : () -> !weft.weak<float>
  %1 = "weft.lt"(%x, %0) : (tensor<?xf32, #weft.dims<n>>, !weft.weak<float>) -> tensor<?xi1, #weft.dims<n>>
  %2 = "weft.eq"(%x, %i) : (tensor<?xf32, #weft.dims<n>>, tensor<?xi64, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
  "weft.return"(%1, %2) : (tensor<?xi1, #weft.dims<n>>, tensor<?xi1, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>, %i : tensor<?xi64, #weft.dims<n>>):
    %0 = "weft.constant"() {value = 0.10000000149011612 : f64, dtype = f32} : () -> tensor<f32>
    %1 = "weft.lt"(%x, %0) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xi1, #weft.dims<n>>
    %2 = "weft.cast"(%x) {to = f64} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf64, #weft.dims<n>>
    %3 = "weft.cast"(%i) {to = f64} : (tensor<?xi64, #weft.dims<n>>) -> tensor<?xf64, #weft.dims<n>>
    %4 = "weft.eq"(%2, %3) : (tensor<?xf64, #weft.dims<n>>, tensor<?xf64, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
    "weft.return"(%1, %4) : (tensor<?xi1, #weft.dims<n>>, tensor<?xi1, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
