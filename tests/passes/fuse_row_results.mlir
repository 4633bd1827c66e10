// RUN: fuse
// What is left of a row belongs to its region.
"weft.kernel"() <{sym_name = "f", guards = ["max(1, x1) == x1"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>):
  %0 = "weft.sum"(%x) {axes = array<i64: 1>, keepdims = false} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?xf32, #weft.dims<x0>>
  %1 = "weft.constant"() {value = 2.0 : f64, dtype = f32} : () -> tensor<f32>
  %2 = "weft.mul"(%0, %1) : (tensor<?xf32, #weft.dims<x0>>, tensor<f32>) -> tensor<?xf32, #weft.dims<x0>>
  %3 = "weft.max"(%x) {axes = array<i64: 1>, keepdims = false} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?xf32, #weft.dims<x0>>
  "weft.return"(%2, %3) : (tensor<?xf32, #weft.dims<x0>>, tensor<?xf32, #weft.dims<x0>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", guards = ["max(1, x1) == x1"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<x0, x1>>):
    %0:2 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<x0, x1>>):
      %1 = "weft.sum"(%x_1) {axes = array<i64: 1>, keepdims = false} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?xf32, #weft.dims<x0>>
      %2 = "weft.constant"() {value = 2.0 : f64, dtype = f32} : () -> tensor<f32>
      %3 = "weft.mul"(%1, %2) : (tensor<?xf32, #weft.dims<x0>>, tensor<f32>) -> tensor<?xf32, #weft.dims<x0>>
      %4 = "weft.max"(%x_1) {axes = array<i64: 1>, keepdims = false} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> tensor<?xf32, #weft.dims<x0>>
      "weft.yield"(%3, %4) : (tensor<?xf32, #weft.dims<x0>>, tensor<?xf32, #weft.dims<x0>>) -> ()
    }) {space = #weft.dims<x0, x1>, reduced = array<i64: 1>} : (tensor<?x?xf32, #weft.dims<x0, x1>>) -> (tensor<?xf32, #weft.dims<x0>>, tensor<?xf32, #weft.dims<x0>>)
    "weft.return"(%0#0, %0#1) : (tensor<?xf32, #weft.dims<x0>>, tensor<?xf32, #weft.dims<x0>>) -> ()
  }) : () -> ()
}) : () -> ()
