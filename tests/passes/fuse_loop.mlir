// RUN: fuse
// What lies in another order is copied before the loop, what a step hands on in the step, what it leaves behind it.
"weft.kernel"() <{sym_name = "f", layouts = ["F", "scalar"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>, %go : tensor<i1>):
  %0 = "weft.loop"(%go, %x, %go) ({
  ^bb0(%a : tensor<?x?xf32, #weft.dims<n, m>>, %again : tensor<i1>):
    %1 = "weft.exp"(%a) : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    "weft.yield"(%again, %1) : (tensor<i1>, tensor<?x?xf32, #weft.dims<n, m>>) -> ()
  }) {carried = 1 : i64} : (tensor<i1>, tensor<?x?xf32, #weft.dims<n, m>>, tensor<i1>) -> tensor<?x?xf32, #weft.dims<n, m>>
  "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["F", "scalar"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>, %go : tensor<i1>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n, m>>):
      %1 = "weft.cast"(%x_1) {to = f32} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      "weft.yield"(%1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    %2 = "weft.loop"(%go, %0, %go) ({
    ^bb0(%a : tensor<?x?xf32, #weft.dims<n, m>>, %again : tensor<i1>):
      %3 = "weft.region"(%a) ({
      ^bb0(%a_1 : tensor<?x?xf32, #weft.dims<n, m>>):
        %4 = "weft.exp"(%a_1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
        "weft.yield"(%4) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
      }) {space = #weft.dims<n, m>, reduced = array<i64>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      %5 = "weft.region"(%again) ({
      ^bb0(%again_1 : tensor<i1>):
        %6 = "weft.cast"(%again_1) {to = i1} : (tensor<i1>) -> tensor<i1>
        "weft.yield"(%6) : (tensor<i1>) -> ()
      }) {space = #weft.dims<>, reduced = array<i64>} : (tensor<i1>) -> tensor<i1>
      "weft.yield"(%5, %3) : (tensor<i1>, tensor<?x?xf32, #weft.dims<n, m>>) -> ()
    }) {carried = 1 : i64} : (tensor<i1>, tensor<?x?xf32, #weft.dims<n, m>>, tensor<i1>) -> tensor<?x?xf32, #weft.dims<n, m>>
    %7 = "weft.region"(%2) ({
    ^bb0(%in : tensor<?x?xf32, #weft.dims<n, m>>):
      %8 = "weft.cast"(%in) {to = f32} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      "weft.yield"(%8) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    "weft.return"(%7) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
  }) : () -> ()
}) : () -> ()
