// RUN: fuse,schedule
// Fortran layout throughout: one loop.
"weft.kernel"() <{sym_name = "f", layouts = ["F"], out_layouts = ["F"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>):
  %0 = "weft.constant"() {value = 2.0 : f64, dtype = f32} : () -> tensor<f32>
  %1 = "weft.mul"(%x, %0) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<f32>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
  "weft.return"(%1) : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["F"], out_layouts = ["F"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<x0, x1>>):
      %1 = "weft.constant"() {value = 2.0 : f64, dtype = f32} : () -> tensor<f32>
      %2 = "weft.mul"(%x_1, %1) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<f32>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
      "weft.yield"(%2) : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
    }) {space = #weft.dims<x0, x1>, reduced = array<i64>, rows = ["1+0"], columns = array<i64>, vector = 0 : i64, layouts = ["F", "F"], width = 8 : i64, unroll = 4 : i64, cost = 84 : i64} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
    "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
  }) : () -> ()
}) : () -> ()
