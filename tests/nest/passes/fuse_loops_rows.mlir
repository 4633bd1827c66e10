// RUN: fuse-loops,forward-stores
!v = memref<?xf64, #weft.dims<n>>
!m = memref<?x?xf64, #weft.dims<n, m>>
"nest.kernel"() <{access = ["update", "write"], layouts = ["C", "C"]}> ({
^bb0(%a : !m, %b : !v):
  "nest.for"() ({
    "nest.for"() ({
      %0 = "nest.load"(%a) {at = #weft.dims<@i, @j>} : (!m) -> tensor<f64>
      %1 = "weft.exp"(%0) : (tensor<f64>) -> tensor<f64>
      "nest.store"(%1, %a) {at = #weft.dims<@i, @j>} : (tensor<f64>, !m) -> ()
      "nest.yield"() : () -> ()
    }) {var = "j", range = #weft.dims<0, m>, kind = "serial"} : () -> ()
    "nest.yield"() : () -> ()
  }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : () -> ()
  "nest.for"() ({
    %3 = "nest.walk"() ({
      %2 = "nest.load"(%a) {at = #weft.dims<@k, @p>} : (!m) -> tensor<f64>
      "nest.yield"(%2) : (tensor<f64>) -> ()
    }) {vars = ["p"], range = #weft.dims<0, m>, kind = "serial", combine = ["sum"], steps = array<i64: 1>} : () -> tensor<f64>
    "nest.store"(%3, %b) {at = #weft.dims<@k>} : (tensor<f64>, !v) -> ()
    "nest.yield"() : () -> ()
  }) {var = "k", range = #weft.dims<0, n>, kind = "serial"} : () -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "nest.kernel"() <{sym_name = "nest", access = ["update", "write"], layouts = ["C", "C"]}> ({
  ^bb0(%a : memref<?x?xf64, #weft.dims<n, m>>, %b : memref<?xf64, #weft.dims<n>>):
    "nest.for"() ({
    ^bb0:
      "nest.for"() ({
      ^bb0:
        %0 = "nest.load"(%a) {at = #weft.dims<@i, @j>} : (memref<?x?xf64, #weft.dims<n, m>>) -> tensor<f64>
        %1 = "weft.exp"(%0) : (tensor<f64>) -> tensor<f64>
        "nest.store"(%1, %a) {at = #weft.dims<@i, @j>} : (tensor<f64>, memref<?x?xf64, #weft.dims<n, m>>) -> ()
        "nest.yield"() : () -> ()
      }) {var = "j", range = #weft.dims<0, m>, kind = "serial"} : () -> ()
      %2 = "nest.walk"() ({
      ^bb0:
        %3 = "nest.load"(%a) {at = #weft.dims<@i, @p>} : (memref<?x?xf64, #weft.dims<n, m>>) -> tensor<f64>
        "nest.yield"(%3) : (tensor<f64>) -> ()
      }) {vars = ["p"], range = #weft.dims<0, m>, kind = "serial", combine = ["sum"], steps = array<i64: 1>} : () -> tensor<f64>
      "nest.store"(%2, %b) {at = #weft.dims<@i>} : (tensor<f64>, memref<?xf64, #weft.dims<n>>) -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
