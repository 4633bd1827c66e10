// RUN: fuse
// A reshape that merges axes ends the region.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>):
  %0 = "weft.constant"() {value = 1.0 : f64, dtype = f32} : () -> tensor<f32>
  %1 = "weft.add"(%x, %0) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<f32>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
  %2 = "weft.reshape"(%1) {shape = #weft.dims<x0*x1>} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?xf32, #weft.dims<x0*x1>>
  %3 = "weft.constant"() {value = 2.0 : f64, dtype = f32} : () -> tensor<f32>
  %4 = "weft.mul"(%2, %3) : (tensor<?xf32, #weft.dims<x0*x1>>, tensor<f32>) -> tensor<?xf32, #weft.dims<x0*x1>>
  "weft.return"(%4) : (tensor<?xf32, #weft.dims<x0*x1>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<x0, x1>>):
      %1 = "weft.constant"() {value = 1.0 : f64, dtype = f32} : () -> tensor<f32>
      %2 = "weft.add"(%x_1, %1) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<f32>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
      "weft.yield"(%2) : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
    }) {space = #weft.dims<x0, x1>, reduced = array<i64>} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
    %3 = "weft.reshape"(%0) {shape = #weft.dims<x0*x1>} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?xf32, #weft.dims<x0*x1>>
    %4 = "weft.region"(%3) ({
    ^bb0(%in : tensor<?xf32, #weft.dims<x0*x1>>):
      %5 = "weft.constant"() {value = 2.0 : f64, dtype = f32} : () -> tensor<f32>
      %6 = "weft.mul"(%in, %5) : (tensor<?xf32, #weft.dims<x0*x1>>, tensor<f32>) -> tensor<?xf32, #weft.dims<x0*x1>>
      "weft.yield"(%6) : (tensor<?xf32, #weft.dims<x0*x1>>) -> ()
    }) {space = #weft.dims<x0*x1>, reduced = array<i64>} : (tensor<?xf32, #weft.dims<x0*x1>>) -> tensor<?xf32, #weft.dims<x0*x1>>
    "weft.return"(%4) : (tensor<?xf32, #weft.dims<x0*x1>>) -> ()
  }) : () -> ()
}) : () -> ()
