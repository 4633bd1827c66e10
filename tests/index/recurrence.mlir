"builtin.module"() ({
  "nest.kernel"() <{sym_name = "loop", access = ["read", "read", "read", "update"], layouts = ["scalar", "scalar", "C", "C"], guards = ["max(-_to1_n + x_1, 0) == -_to1_n + x_1", "max(0, _size1_n - _to1_n) == _size1_n - _to1_n", "max(-_to0_n + x_0, 0) == -_to0_n + x_0", "max(0, _size0_n - _to0_n) == _size0_n - _to0_n"]}> ({
  ^bb0(%_to0 : memref<i64>, %a : memref<f32>, %x : memref<?x?xf32, #weft.dims<x_0, x_1>>, %fresh6 : memref<?x?xf32, #weft.dims<_size0_n, _size1_n>>):
    %0 = "nest.load"(%_to0) {at = #weft.dims<>} : (memref<i64>) -> tensor<i64>
    %1 = "nest.load"(%a) {at = #weft.dims<>} : (memref<f32>) -> tensor<f32>
    %2 = "weft.constant"() {value = 0 : i64, dtype = i64} : () -> tensor<i64>
    %3 = "weft.lt"(%2, %0) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    "nest.when"(%3) ({
    ^bb0:
      "nest.for"() ({
      ^bb0:
        %4 = "weft.constant"() {value = 0.0 : f64, dtype = f32} : () -> tensor<f32>
        %5 = "weft.mul"(%1, %4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        %6 = "weft.constant"() {value = 0 : i64, dtype = i64} : () -> tensor<i64>
        "nest.bind"(%6) {var = "at", range = #weft.dims<0, x_0>} : (tensor<i64>) -> ()
        %7 = "nest.load"(%x) {at = #weft.dims<@at, @j>} : (memref<?x?xf32, #weft.dims<x_0, x_1>>) -> tensor<f32>
        %8 = "weft.add"(%5, %7) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        %9 = "weft.constant"() {value = 0 : i64, dtype = i64} : () -> tensor<i64>
        "nest.bind"(%9) {var = "at_1", range = #weft.dims<0, _size0_n>} : (tensor<i64>) -> ()
        "nest.store"(%8, %fresh6) {at = #weft.dims<@at_1, @j>} : (tensor<f32>, memref<?x?xf32, #weft.dims<_size0_n, _size1_n>>) -> ()
        "nest.ask"() : () -> ()
        "nest.yield"() : () -> ()
      }) {var = "j", range = #weft.dims<0, _to1_n>, kind = "serial"} : () -> ()
      "nest.yield"() : () -> ()
    }) : (tensor<i1>) -> ()
    "nest.for"() ({
    ^bb0:
      "nest.for"() ({
      ^bb0:
        %10 = "nest.load"(%fresh6) {at = #weft.dims<@i - 1, @j_1>} : (memref<?x?xf32, #weft.dims<_size0_n, _size1_n>>) -> tensor<f32>
        %11 = "weft.mul"(%1, %10) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        %12 = "nest.load"(%x) {at = #weft.dims<@i, @j_1>} : (memref<?x?xf32, #weft.dims<x_0, x_1>>) -> tensor<f32>
        %13 = "weft.add"(%11, %12) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "nest.store"(%13, %fresh6) {at = #weft.dims<@i, @j_1>} : (tensor<f32>, memref<?x?xf32, #weft.dims<_size0_n, _size1_n>>) -> ()
        "nest.yield"() : () -> ()
      }) {var = "j_1", range = #weft.dims<0, _to1_n>, kind = "vector", times = 4 : i64, shared, grain = 128 : i64} : () -> ()
      "nest.ask"() : () -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<1, _to0_n>, kind = "serial"} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
