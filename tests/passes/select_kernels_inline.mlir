// RUN: select-kernels
// Every op gets the implementation that the source chose.
"weft.kernel"() <{sym_name = "f", guards = ["x0 == y0", "x1 == y1"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>, %y : tensor<?x?xf32, #weft.dims<x0, x1>>):
  %0 = "weft.constant"() {value = 2.0 : f64, dtype = f32} : () -> tensor<f32>
  %1 = "weft.mul"(%y, %0) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<f32>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
  %2 = "weft.add"(%x, %1) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
  "weft.return"(%2) : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", guards = ["x0 == y0", "x1 == y1"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>, %y : tensor<?x?xf32, #weft.dims<x0, x1>>):
    %0 = "weft.constant"() {value = 2.0 : f64, dtype = f32} : () -> tensor<f32>
    %1 = "weft.mul"(%y, %0) {impl = "inline vectorized", score = 40 : i64} : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<f32>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
    %2 = "weft.add"(%x, %1) {impl = "inline vectorized", score = 40 : i64} : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
    "weft.return"(%2) : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
  }) : () -> ()
}) : () -> ()
