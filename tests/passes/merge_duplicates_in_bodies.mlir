// RUN: merge-duplicates
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>):
  %0 = "weft.each"(%x) ({ ^bb0(%a : tensor<f32>):
    %1 = "weft.neg"(%a) : (tensor<f32>) -> tensor<f32>
    %2 = "weft.neg"(%a) : (tensor<f32>) -> tensor<f32>
    %3 = "weft.add"(%1, %2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "weft.yield"(%3) : (tensor<f32>) -> () }) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  "weft.return"(%0) : (tensor<?xf32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>):
    %0 = "weft.each"(%x) ({
    ^bb0(%a : tensor<f32>):
      %1 = "weft.neg"(%a) : (tensor<f32>) -> tensor<f32>
      %2 = "weft.add"(%1, %1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "weft.yield"(%2) : (tensor<f32>) -> ()
    }) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    "weft.return"(%0) : (tensor<?xf32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
