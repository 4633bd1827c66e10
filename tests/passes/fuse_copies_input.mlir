// RUN: fuse
// An argument that is handed back is copied.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>):
  %0 = "weft.constant"() {value = 1.0 : f64, dtype = f32} : () -> tensor<f32>
  %1 = "weft.add"(%x, %0) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<f32>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
  "weft.return"(%x, %1) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
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
    %3 = "weft.region"(%x) ({
    ^bb0(%x_2 : tensor<?x?xf32, #weft.dims<x0, x1>>):
      "weft.yield"(%x_2) : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
    }) {space = #weft.dims<x0, x1>, reduced = array<i64>} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?x?xf32, #weft.dims<x0, x1>>
    "weft.return"(%3, %0) : (tensor<?x?xf32, #weft.dims<x0, x1>>, tensor<?x?xf32, #weft.dims<x0, x1>>) -> ()
  }) : () -> ()
}) : () -> ()
