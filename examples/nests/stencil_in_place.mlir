"builtin.module"() ({
  "nest.kernel"() <{sym_name = "stencil_in_place", access = ["update"], layouts = ["C"], guards = ["max(0, n - 1) == n - 1"]}> ({
  ^bb0(%u : memref<?x?xf32, #weft.dims<n, m>>):
    %0 = "nest.alloc"() {place = "call"} : () -> memref<2x?xf32, #weft.dims<2, m>>
    "nest.for"() ({
    ^bb0:
      %1 = "nest.load"(%u) {at = #weft.dims<0, @j>} : (memref<?x?xf32, #weft.dims<n, m>>) -> tensor<f32>
      "nest.store"(%1, %0) {at = #weft.dims<0, @j>} : (tensor<f32>, memref<2x?xf32, #weft.dims<2, m>>) -> ()
      "nest.yield"() : () -> ()
    }) {var = "j", range = #weft.dims<0, m>, kind = "vector", width = 16 : i64, times = 4 : i64} : () -> ()
    "nest.for"() ({
    ^bb0:
      "nest.for"() ({
      ^bb0:
        %2 = "nest.load"(%u) {at = #weft.dims<@i, @j>} : (memref<?x?xf32, #weft.dims<n, m>>) -> tensor<f32>
        "nest.store"(%2, %0) {at = #weft.dims<@i - 2*floordiv(@i, 2), @j>} : (tensor<f32>, memref<2x?xf32, #weft.dims<2, m>>) -> ()
        "nest.yield"() : () -> ()
      }) {var = "j", range = #weft.dims<0, m>, kind = "vector", width = 16 : i64, times = 4 : i64} : () -> ()
      "nest.for"() ({
      ^bb0:
        %3 = "nest.load"(%0) {at = #weft.dims<@i - 2*floordiv(@i - 1, 2) - 1, @j>} : (memref<2x?xf32, #weft.dims<2, m>>) -> tensor<f32>
        %4 = "nest.load"(%0) {at = #weft.dims<@i - 2*floordiv(@i, 2), @j - 1>} : (memref<2x?xf32, #weft.dims<2, m>>) -> tensor<f32>
        %5 = "nest.load"(%0) {at = #weft.dims<@i - 2*floordiv(@i, 2), @j + 1>} : (memref<2x?xf32, #weft.dims<2, m>>) -> tensor<f32>
        %6 = "nest.load"(%u) {at = #weft.dims<@i + 1, @j>} : (memref<?x?xf32, #weft.dims<n, m>>) -> tensor<f32>
        %7 = "weft.add"(%3, %6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        %8 = "weft.add"(%4, %5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        %9 = "weft.add"(%7, %8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        %10 = "weft.constant"() {value = 0.25 : f64, dtype = f32} : () -> tensor<f32>
        %11 = "weft.mul"(%9, %10) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "nest.store"(%11, %u) {at = #weft.dims<@i, @j>} : (tensor<f32>, memref<?x?xf32, #weft.dims<n, m>>) -> ()
        "nest.yield"() : () -> ()
      }) {var = "j", range = #weft.dims<1, m - 1>, kind = "vector", width = 16 : i64, times = 4 : i64} : () -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<1, n - 1>, kind = "serial"} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
