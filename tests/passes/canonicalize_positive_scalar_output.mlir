// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<f32>, %y : tensor<?xf32, #weft.dims<n>>):
  %0 = "weft.positive"(%x) : (tensor<f32>) -> tensor<f32>
  %1 = "weft.positive"(%y) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  "weft.return"(%0, %1) : (tensor<f32>, tensor<?xf32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<f32>, %y : tensor<?xf32, #weft.dims<n>>):
    %0 = "weft.positive"(%x) : (tensor<f32>) -> tensor<f32>
    "weft.return"(%0, %y) : (tensor<f32>, tensor<?xf32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
