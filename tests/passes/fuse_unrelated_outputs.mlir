// RUN: fuse
// Nothing in common: two regions.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>, %y : tensor<?x?xf32, #weft.dims<y0, y1>>):
  %0 = "weft.constant"() {value = 1.0 : f64, dtype = f32} : () -> tensor<f32>
  %1 = "weft.add"(%x, %0) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<f32>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
  %2 = "weft.constant"() {value = 2.0 : f64, dtype = f32} : () -> tensor<f32>
  %3 = "weft.mul"(%y, %2) : (tensor<?x?xf32, #weft.dims<y0, y1>>, tensor<f32>) -> tensor<?x?xf32, #weft.dims<y0, y1>>
  "weft.return"(%1, %3) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x?xf32, #weft.dims<y0, y1>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>, %y : tensor<?x?xf32, #weft.dims<y0, y1>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<x0, x1>>):
      %1 = "weft.constant"() {value = 1.0 : f64, dtype = f32} : () -> tensor<f32>
      %2 = "weft.add"(%x_1, %1) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<f32>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
      "weft.yield"(%2) : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
    }) {space = #weft.dims<x0, x1>, reduced = array<i64>} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
    %3 = "weft.region"(%y) ({
    ^bb0(%y_1 : tensor<?x?xf32, #weft.dims<y0, y1>>):
      %4 = "weft.constant"() {value = 2.0 : f64, dtype = f32} : () -> tensor<f32>
      %5 = "weft.mul"(%y_1, %4) : (tensor<?x?xf32, #weft.dims<y0, y1>>, tensor<f32>) -> tensor<?x?xf32, #weft.dims<y0, y1>>
      "weft.yield"(%5) : (tensor<?x?xf32, #weft.dims<y0, y1>>) -> ()
    }) {space = #weft.dims<y0, y1>, reduced = array<i64>} : (tensor<?x?xf32, #weft.dims<y0, y1>>) -> tensor<?x?xf32, #weft.dims<y0, y1>>
    "weft.return"(%0, %3) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x?xf32, #weft.dims<y0, y1>>) -> ()
  }) : () -> ()
}) : () -> ()
