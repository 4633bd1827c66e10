// RUN: jam-loops
!m = memref<?x?xf64, #weft.dims<n, m>>
!c = memref<?x?xf64, #weft.dims<m, m>>
"nest.kernel"() <{access = ["read", "update"], layouts = ["C", "C"]}> ({
^bb0(%a : !m, %c : !c):
  "nest.for"() ({
    "nest.for"() ({
      %0 = "nest.walk"() ({
        %1 = "nest.load"(%a) {at = #weft.dims<@k, @i>} : (!m) -> tensor<f64>
        %2 = "nest.load"(%a) {at = #weft.dims<@k, @i + @j>} : (!m) -> tensor<f64>
        %3 = "weft.mul"(%1, %2) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        "nest.yield"(%3) : (tensor<f64>) -> ()
      }) {vars = ["k"], range = #weft.dims<0, n>, kind = "serial", combine = ["sum"], steps = array<i64: 16>} : () -> tensor<f64>
      "nest.store"(%0, %c) {at = #weft.dims<@i, @i + @j>} : (tensor<f64>, !c) -> ()
      "nest.yield"() : () -> ()
    }) {var = "j", range = #weft.dims<0, m - @i>, kind = "vector", times = 16 : i64} : () -> ()
    "nest.yield"() : () -> ()
  }) {var = "i", range = #weft.dims<0, m>, kind = "serial", shared} : () -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "nest.kernel"() <{sym_name = "nest", access = ["read", "update"], layouts = ["C", "C"]}> ({
  ^bb0(%a : memref<?x?xf64, #weft.dims<n, m>>, %c : memref<?x?xf64, #weft.dims<m, m>>):
    "nest.for"() ({
    ^bb0:
      "nest.for"() ({
      ^bb0:
        "nest.for"() ({
        ^bb0:
          %0 = "nest.walk"() ({
          ^bb0:
            %1 = "nest.load"(%a) {at = #weft.dims<@k, @i>} : (memref<?x?xf64, #weft.dims<n, m>>) -> tensor<f64>
            %2 = "nest.load"(%a) {at = #weft.dims<@k, @j>} : (memref<?x?xf64, #weft.dims<n, m>>) -> tensor<f64>
            %3 = "weft.mul"(%1, %2) : (tensor<f64>, tensor<f64>) -> tensor<f64>
            "nest.yield"(%3) : (tensor<f64>) -> ()
          }) {vars = ["k"], range = #weft.dims<0, n>, kind = "serial", combine = ["sum"], steps = array<i64: 16>} : () -> tensor<f64>
          "nest.store"(%0, %c) {at = #weft.dims<@i, @j>} : (tensor<f64>, memref<?x?xf64, #weft.dims<m, m>>) -> ()
          "nest.yield"() : () -> ()
        }) {var = "j", range = #weft.dims<@i, min(4*@b + 3, m)>, kind = "vector", times = 1 : i64} : () -> ()
        "nest.yield"() : () -> ()
      }) {var = "i", range = #weft.dims<4*@b, 4*@b + 4>, kind = "serial"} : () -> ()
      "nest.for"() ({
      ^bb0:
        "nest.for"() ({
        ^bb0:
          %4 = "nest.walk"() ({
          ^bb0:
            %5 = "nest.load"(%a) {at = #weft.dims<@k, @i>} : (memref<?x?xf64, #weft.dims<n, m>>) -> tensor<f64>
            %6 = "nest.load"(%a) {at = #weft.dims<@k, @j>} : (memref<?x?xf64, #weft.dims<n, m>>) -> tensor<f64>
            %7 = "weft.mul"(%5, %6) : (tensor<f64>, tensor<f64>) -> tensor<f64>
            "nest.yield"(%7) : (tensor<f64>) -> ()
          }) {vars = ["k"], range = #weft.dims<0, n>, kind = "serial", combine = ["sum"], steps = array<i64: 16>} : () -> tensor<f64>
          "nest.store"(%4, %c) {at = #weft.dims<@i, @j>} : (tensor<f64>, memref<?x?xf64, #weft.dims<m, m>>) -> ()
          "nest.yield"() : () -> ()
        }) {var = "j", range = #weft.dims<4*@b + 3, m>, kind = "vector", times = 4 : i64} : () -> ()
        "nest.yield"() : () -> ()
      }) {var = "i", range = #weft.dims<4*@b, 4*@b + 4>, kind = "jammed", times = 4 : i64} : () -> ()
      "nest.yield"() : () -> ()
    }) {var = "b", range = #weft.dims<0, floordiv(m, 4)>, kind = "serial", shared} : () -> ()
    "nest.for"() ({
    ^bb0:
      "nest.for"() ({
      ^bb0:
        %8 = "nest.walk"() ({
        ^bb0:
          %9 = "nest.load"(%a) {at = #weft.dims<@k, @i>} : (memref<?x?xf64, #weft.dims<n, m>>) -> tensor<f64>
          %10 = "nest.load"(%a) {at = #weft.dims<@k, @i + @j>} : (memref<?x?xf64, #weft.dims<n, m>>) -> tensor<f64>
          %11 = "weft.mul"(%9, %10) : (tensor<f64>, tensor<f64>) -> tensor<f64>
          "nest.yield"(%11) : (tensor<f64>) -> ()
        }) {vars = ["k"], range = #weft.dims<0, n>, kind = "serial", combine = ["sum"], steps = array<i64: 16>} : () -> tensor<f64>
        "nest.store"(%8, %c) {at = #weft.dims<@i, @i + @j>} : (tensor<f64>, memref<?x?xf64, #weft.dims<m, m>>) -> ()
        "nest.yield"() : () -> ()
      }) {var = "j", range = #weft.dims<0, -@i + m>, kind = "vector", times = 16 : i64} : () -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<4*floordiv(m, 4), m>, kind = "jammed", shared, times = 1 : i64} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
