// RUN: fuse
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>, %c : tensor<i1>):
  %1:2 = "weft.each"(%x, %c) ({ ^bb0(%a : tensor<f32>, %b : tensor<i1>):
    %2 = "weft.when"(%b, %a) ({ ^bb0(%d : tensor<f32>):
      %3 = "weft.sqrt"(%d) : (tensor<f32>) -> tensor<f32>
      "weft.yield"(%3) : (tensor<f32>) -> () }) : (tensor<i1>, tensor<f32>) -> tensor<f32>
    "weft.yield"(%2, %a) : (tensor<f32>, tensor<f32>) -> () }) : (tensor<?xf32, #weft.dims<n>>, tensor<i1>) -> (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>)
  %4 = "weft.sum"(%1#0) {axes = array<i64: 0>} : (tensor<?xf32, #weft.dims<n>>) -> tensor<f32>
  "weft.return"(%4, %1#1) : (tensor<f32>, tensor<?xf32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>, %c : tensor<i1>):
    %0:2 = "weft.region"(%x, %c) ({
    ^bb0(%x_1 : tensor<?xf32, #weft.dims<n>>, %c_1 : tensor<i1>):
      %1:2 = "weft.each"(%x_1, %c_1) ({
      ^bb0(%a : tensor<f32>, %b : tensor<i1>):
        %2 = "weft.when"(%b, %a) ({
        ^bb0(%d : tensor<f32>):
          %3 = "weft.sqrt"(%d) : (tensor<f32>) -> tensor<f32>
          "weft.yield"(%3) : (tensor<f32>) -> ()
        }) : (tensor<i1>, tensor<f32>) -> tensor<f32>
        "weft.yield"(%2, %a) : (tensor<f32>, tensor<f32>) -> ()
      }) : (tensor<?xf32, #weft.dims<n>>, tensor<i1>) -> (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>)
      %4 = "weft.sum"(%1#0) {axes = array<i64: 0>} : (tensor<?xf32, #weft.dims<n>>) -> tensor<f32>
      "weft.yield"(%1#1, %4) : (tensor<?xf32, #weft.dims<n>>, tensor<f32>) -> ()
    }) {space = #weft.dims<n>, reduced = array<i64: 0>} : (tensor<?xf32, #weft.dims<n>>, tensor<i1>) -> (tensor<?xf32, #weft.dims<n>>, tensor<f32>)
    "weft.return"(%0#1, %0#0) : (tensor<f32>, tensor<?xf32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
