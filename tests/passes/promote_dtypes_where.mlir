// RUN: promote-dtypes
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%c : tensor<?xi32, #weft.dims<n>>, %x : tensor<?xf32, #weft.dims<n>>):
  %0 = "weft.constant"() {value = 1 : i64, dtype = !weft.weak<int>} : () -> !weft.weak<int>
  %1 = "weft.where"(%c, %x, %0) : (tensor<?xi32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>, !weft.weak<int>) -> tensor<?xf32, #weft.dims<n>>
  "weft.return"(%1) : (tensor<?xf32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%c : tensor<?xi32, #weft.dims<n>>, %x : tensor<?xf32, #weft.dims<n>>):
    %0 = "weft.cast"(%c) {to = i1} : (tensor<?xi32, #weft.dims<n>>) -> tensor<?xi1, #weft.dims<n>>
    %1 = "weft.constant"() {value = 1.0 : f64, dtype = f32} : () -> tensor<f32>
    %2 = "weft.where"(%0, %x, %1) : (tensor<?xi1, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> tensor<?xf32, #weft.dims<n>>
    "weft.return"(%2) : (tensor<?xf32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
