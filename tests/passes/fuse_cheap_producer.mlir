// RUN: fuse
// An addition is computed again rather than kept.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<x0>>):
  %0 = "weft.constant"() {value = 1.0 : f64, dtype = f32} : () -> tensor<f32>
  %1 = "weft.add"(%x, %0) : (tensor<?xf32, #weft.dims<x0>>, tensor<f32>) -> tensor<?xf32, #weft.dims<x0>>
  %2 = "weft.slice"(%1) {starts = #weft.dims<1>, steps = array<i64: 1>, sizes = #weft.dims<max(0, x0 - 1)>} : (tensor<?xf32, #weft.dims<x0>>) -> tensor<?xf32, #weft.dims<max(0, x0 - 1)>>
  %3 = "weft.slice"(%1) {starts = #weft.dims<0>, steps = array<i64: 1>, sizes = #weft.dims<max(0, x0 - 1)>} : (tensor<?xf32, #weft.dims<x0>>) -> tensor<?xf32, #weft.dims<max(0, x0 - 1)>>
  %4 = "weft.sub"(%2, %3) : (tensor<?xf32, #weft.dims<max(0, x0 - 1)>>, tensor<?xf32, #weft.dims<max(0, x0 - 1)>>) -> tensor<?xf32, #weft.dims<max(0, x0 - 1)>>
  "weft.return"(%4) : (tensor<?xf32, #weft.dims<max(0, x0 - 1)>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<x0>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?xf32, #weft.dims<x0>>):
      %1 = "weft.constant"() {value = 1.0 : f64, dtype = f32} : () -> tensor<f32>
      %2 = "weft.add"(%x_1, %1) : (tensor<?xf32, #weft.dims<x0>>, tensor<f32>) -> tensor<?xf32, #weft.dims<x0>>
      %3 = "weft.slice"(%2) {starts = #weft.dims<1>, steps = array<i64: 1>, sizes = #weft.dims<max(0, x0 - 1)>} : (tensor<?xf32, #weft.dims<x0>>) -> tensor<?xf32, #weft.dims<max(0, x0 - 1)>>
      %4 = "weft.slice"(%2) {starts = #weft.dims<0>, steps = array<i64: 1>, sizes = #weft.dims<max(0, x0 - 1)>} : (tensor<?xf32, #weft.dims<x0>>) -> tensor<?xf32, #weft.dims<max(0, x0 - 1)>>
      %5 = "weft.sub"(%3, %4) : (tensor<?xf32, #weft.dims<max(0, x0 - 1)>>, tensor<?xf32, #weft.dims<max(0, x0 - 1)>>) -> tensor<?xf32, #weft.dims<max(0, x0 - 1)>>
      "weft.yield"(%5) : (tensor<?xf32, #weft.dims<max(0, x0 - 1)>>) -> ()
    }) {space = #weft.dims<max(0, x0 - 1)>, reduced = array<i64>} : (tensor<?xf32, #weft.dims<x0>>) -> tensor<?xf32, #weft.dims<max(0, x0 - 1)>>
    "weft.return"(%0) : (tensor<?xf32, #weft.dims<max(0, x0 - 1)>>) -> ()
  }) : () -> ()
}) : () -> ()
