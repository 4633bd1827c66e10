"builtin.module"() ({
  "nest.kernel"() <{sym_name = "three_axis_sum", access = ["read", "write"], layouts = ["S", "C"]}> ({
  ^bb0(%x : memref<?x?x?x?xf32, #weft.dims<a, b, c, m>>, %y : memref<?x?x?x?xf32, #weft.dims<a, b, c, m>>):
    %0 = "nest.alloc"() {place = "call"} : () -> memref<?xf32, #weft.dims<m>>
    "nest.for"() ({
    ^bb0:
      %1 = "nest.walk"() ({
      ^bb0:
        %2 = "nest.load"(%x) {at = #weft.dims<@p, @q, @r, @j>} : (memref<?x?x?x?xf32, #weft.dims<a, b, c, m>>) -> tensor<f32>
        "nest.yield"(%2) : (tensor<f32>) -> ()
      }) {vars = ["p", "q", "r"], range = #weft.dims<0, a, 0, b, 0, c>, kind = "serial", combine = ["sum"], steps = array<i64: 16>} : () -> tensor<f32>
      "nest.store"(%1, %0) {at = #weft.dims<@j>} : (tensor<f32>, memref<?xf32, #weft.dims<m>>) -> ()
      "nest.yield"() : () -> ()
    }) {var = "j", range = #weft.dims<0, m>, kind = "vector", width = 16 : i64, times = 4 : i64, shared, grain = 64 : i64} : () -> ()
    "nest.for"() ({
    ^bb0:
      "nest.for"() ({
      ^bb0:
        "nest.for"() ({
        ^bb0:
          "nest.for"() ({
          ^bb0:
            %3 = "nest.load"(%x) {at = #weft.dims<@p, @q, @r, @j>} : (memref<?x?x?x?xf32, #weft.dims<a, b, c, m>>) -> tensor<f32>
            %4 = "nest.load"(%0) {at = #weft.dims<@j>} : (memref<?xf32, #weft.dims<m>>) -> tensor<f32>
            %5 = "weft.div"(%3, %4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "nest.store"(%5, %y) {at = #weft.dims<@p, @q, @r, @j>, stream} : (tensor<f32>, memref<?x?x?x?xf32, #weft.dims<a, b, c, m>>) -> ()
            "nest.yield"() : () -> ()
          }) {var = "j", range = #weft.dims<0, m>, kind = "vector", width = 16 : i64, times = 4 : i64} : () -> ()
          "nest.yield"() : () -> ()
        }) {var = "r", range = #weft.dims<0, c>, kind = "serial"} : () -> ()
        "nest.yield"() : () -> ()
      }) {var = "q", range = #weft.dims<0, b>, kind = "serial", shared} : () -> ()
      "nest.yield"() : () -> ()
    }) {var = "p", range = #weft.dims<0, a>, kind = "serial", shared} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
