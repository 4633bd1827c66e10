// RUN: jam-loops
!m = memref<?x?x?xf64, #weft.dims<p, n, m>>
!c = memref<?x?xf64, #weft.dims<p, m>>
"nest.kernel"() <{access = ["read", "update"], layouts = ["C", "C"]}> ({
^bb0(%a : !m, %c : !c):
  "nest.for"() ({
    "nest.for"() ({
      %0 = "nest.walk"() ({
        %1 = "nest.load"(%a) {at = #weft.dims<@i, @k, @j>} : (!m) -> tensor<f64>
        "nest.yield"(%1) : (tensor<f64>) -> ()
      }) {vars = ["k"], range = #weft.dims<0, n>, kind = "serial", combine = ["sum"], steps = array<i64: 16>} : () -> tensor<f64>
      "nest.store"(%0, %c) {at = #weft.dims<@i, @j>} : (tensor<f64>, !c) -> ()
      "nest.yield"() : () -> ()
    }) {var = "j", range = #weft.dims<0, m>, kind = "vector", times = 16 : i64} : () -> ()
    "nest.yield"() : () -> ()
  }) {var = "i", range = #weft.dims<0, p>, kind = "serial", shared} : () -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "nest.kernel"() <{sym_name = "nest", access = ["read", "update"], layouts = ["C", "C"]}> ({
  ^bb0(%a : memref<?x?x?xf64, #weft.dims<p, n, m>>, %c : memref<?x?xf64, #weft.dims<p, m>>):
    "nest.for"() ({
    ^bb0:
      "nest.for"() ({
      ^bb0:
        %0 = "nest.walk"() ({
        ^bb0:
          %1 = "nest.load"(%a) {at = #weft.dims<@i, @k, @j>} : (memref<?x?x?xf64, #weft.dims<p, n, m>>) -> tensor<f64>
          "nest.yield"(%1) : (tensor<f64>) -> ()
        }) {vars = ["k"], range = #weft.dims<0, n>, kind = "serial", combine = ["sum"], steps = array<i64: 16>} : () -> tensor<f64>
        "nest.store"(%0, %c) {at = #weft.dims<@i, @j>} : (tensor<f64>, memref<?x?xf64, #weft.dims<p, m>>) -> ()
        "nest.yield"() : () -> ()
      }) {var = "j", range = #weft.dims<0, m>, kind = "vector", times = 16 : i64} : () -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<0, p>, kind = "serial", shared} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
