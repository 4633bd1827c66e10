// RUN: turn-walks
!m = memref<?x?xf64, #weft.dims<n, m>>
"nest.kernel"() <{access = ["update", "read"], layouts = ["C", "C"]}> ({
^bb0(%a : memref<?xf64, #weft.dims<m>>, %b : !m):
  "nest.for"() ({
    %0 = "nest.walk"() ({
      %1 = "nest.load"(%b) {at = #weft.dims<@k, @j>} : (!m) -> tensor<f64>
      "nest.yield"(%1) : (tensor<f64>) -> ()
    }) {vars = ["k"], range = #weft.dims<0, n>, kind = "vector", combine = ["sum"], steps = array<i64: 16>, width = 4 : i64} : () -> vector<16xf64>
    %2 = "nest.across"(%0) {combine = "sum"} : (vector<16xf64>) -> tensor<f64>
    "nest.store"(%2, %a) {at = #weft.dims<@j>} : (tensor<f64>, memref<?xf64, #weft.dims<m>>) -> ()
    "nest.yield"() : () -> ()
  }) {var = "j", range = #weft.dims<0, m>, kind = "serial"} : () -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "nest.kernel"() <{sym_name = "nest", access = ["update", "read"], layouts = ["C", "C"]}> ({
  ^bb0(%a : memref<?xf64, #weft.dims<m>>, %b : memref<?x?xf64, #weft.dims<n, m>>):
    "nest.for"() ({
    ^bb0:
      %0 = "nest.walk"() ({
      ^bb0:
        %1 = "nest.load"(%b) {at = #weft.dims<@k, @j>} : (memref<?x?xf64, #weft.dims<n, m>>) -> tensor<f64>
        "nest.yield"(%1) : (tensor<f64>) -> ()
      }) {vars = ["k"], range = #weft.dims<0, n>, combine = ["sum"], steps = array<i64: 16>, kind = "serial"} : () -> tensor<f64>
      "nest.store"(%0, %a) {at = #weft.dims<@j>} : (tensor<f64>, memref<?xf64, #weft.dims<m>>) -> ()
      "nest.yield"() : () -> ()
    }) {var = "j", range = #weft.dims<0, m>, kind = "vector", times = 16 : i64} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
