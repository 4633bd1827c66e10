"builtin.module"() ({
  "nest.kernel"() <{sym_name = "colsum", access = ["read", "write"], layouts = ["C", "C"]}> ({
  ^bb0(%x : memref<?x?xf32, #weft.dims<n, m>>, %o : memref<?xf32, #weft.dims<m>>):
    %0 = "nest.alloc"() {place = "call"} : () -> memref<?x?xf32, #weft.dims<floordiv(n + 127, 128), m>>
    "nest.for"() ({
    ^bb0:
      "nest.for"() ({
      ^bb0:
        %1 = "nest.walk"() ({
        ^bb0:
          %2 = "nest.load"(%x) {at = #weft.dims<@i, @j>} : (memref<?x?xf32, #weft.dims<n, m>>) -> tensor<f32>
          "nest.fetch"(%x) {at = #weft.dims<@i + 8, @j>, level = 1 : i64} : (memref<?x?xf32, #weft.dims<n, m>>) -> ()
          "nest.yield"(%2) : (tensor<f32>) -> ()
        }) {vars = ["i"], range = #weft.dims<128*@c, min(128*@c + 128, n)>, kind = "serial", combine = ["sum"], steps = array<i64: 16>} : () -> tensor<f32>
        "nest.store"(%1, %0) {at = #weft.dims<@c, @j>} : (tensor<f32>, memref<?x?xf32, #weft.dims<floordiv(n + 127, 128), m>>) -> ()
        "nest.yield"() : () -> ()
      }) {var = "j", range = #weft.dims<0, m>, kind = "vector", width = 16 : i64, times = 8 : i64, shared, grain = 128 : i64} : () -> ()
      "nest.yield"() : () -> ()
    }) {var = "c", range = #weft.dims<0, floordiv(n + 127, 128)>, kind = "serial", shared} : () -> ()
    "nest.for"() ({
    ^bb0:
      %3 = "nest.walk"() ({
      ^bb0:
        %4 = "nest.load"(%0) {at = #weft.dims<@c, @j>} : (memref<?x?xf32, #weft.dims<floordiv(n + 127, 128), m>>) -> tensor<f32>
        "nest.yield"(%4) : (tensor<f32>) -> ()
      }) {vars = ["c"], range = #weft.dims<0, floordiv(n + 127, 128)>, kind = "serial", combine = ["sum"], steps = array<i64: 1>} : () -> tensor<f32>
      "nest.store"(%3, %o) {at = #weft.dims<@j>} : (tensor<f32>, memref<?xf32, #weft.dims<m>>) -> ()
      "nest.yield"() : () -> ()
    }) {var = "j", range = #weft.dims<0, m>, kind = "vector", width = 16 : i64, times = 8 : i64, shared, grain = 128 : i64} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
