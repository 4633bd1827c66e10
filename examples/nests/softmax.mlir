"builtin.module"() ({
  "nest.kernel"() <{sym_name = "softmax", access = ["read", "write"], layouts = ["C", "C"]}> ({
  ^bb0(%x : memref<?x?xf32, #weft.dims<n, m>>, %o : memref<?x?xf32, #weft.dims<n, m>>):
    "nest.for"() ({
    ^bb0:
      %0 = "nest.walk"() ({
      ^bb0:
        %1 = "nest.load"(%x) {at = #weft.dims<@i, @j>} : (memref<?x?xf32, #weft.dims<n, m>>) -> tensor<f32>
        %2 = "weft.constant"() {value = 0.5 : f64, dtype = f32} : () -> tensor<f32>
        %3 = "weft.mul"(%1, %2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "nest.yield"(%3) : (tensor<f32>) -> ()
      }) {vars = ["j"], range = #weft.dims<0, m>, kind = "vector", width = 16 : i64, combine = ["max"], steps = array<i64: 0>} : () -> vector<64xf32>
      %4 = "nest.across"(%0) {combine = "max"} : (vector<64xf32>) -> tensor<f32>
      %5 = "nest.walk"() ({
      ^bb0:
        %6 = "nest.load"(%x) {at = #weft.dims<@i, @j>} : (memref<?x?xf32, #weft.dims<n, m>>) -> tensor<f32>
        %7 = "weft.constant"() {value = 0.5 : f64, dtype = f32} : () -> tensor<f32>
        %8 = "weft.mul"(%6, %7) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        %9 = "weft.sub"(%8, %4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        %10 = "weft.exp"(%9) : (tensor<f32>) -> tensor<f32>
        "nest.store"(%10, %o) {at = #weft.dims<@i, @j>} : (tensor<f32>, memref<?x?xf32, #weft.dims<n, m>>) -> ()
        "nest.yield"(%10) : (tensor<f32>) -> ()
      }) {vars = ["j"], range = #weft.dims<0, m>, kind = "vector", width = 16 : i64, combine = ["sum"], steps = array<i64: 16>} : () -> vector<64xf32>
      %11 = "nest.across"(%5) {combine = "sum"} : (vector<64xf32>) -> tensor<f32>
      "nest.for"() ({
      ^bb0:
        %12 = "nest.load"(%o) {at = #weft.dims<@i, @j>} : (memref<?x?xf32, #weft.dims<n, m>>) -> tensor<f32>
        %13 = "weft.div"(%12, %11) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "nest.store"(%13, %o) {at = #weft.dims<@i, @j>} : (tensor<f32>, memref<?x?xf32, #weft.dims<n, m>>) -> ()
        "nest.yield"() : () -> ()
      }) {var = "j", range = #weft.dims<0, m>, kind = "vector", width = 16 : i64, times = 2 : i64} : () -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "serial", shared} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
