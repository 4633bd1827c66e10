// RUN: turn-walks
!m = memref<?x?xf64, #weft.dims<n, m>>
"nest.kernel"() <{access = ["update"], layouts = ["C"]}> ({
^bb0(%b : !m):
  "nest.for"() ({
    %0 = "nest.walk"() ({
      %1 = "nest.load"(%b) {at = #weft.dims<@k, @j - 1>} : (!m) -> tensor<f64>
      "nest.yield"(%1) : (tensor<f64>) -> ()
    }) {vars = ["k"], range = #weft.dims<0, n>, kind = "vector", combine = ["sum"], steps = array<i64: 16>} : () -> vector<16xf64>
    %2 = "nest.across"(%0) {combine = "sum"} : (vector<16xf64>) -> tensor<f64>
    "nest.store"(%2, %b) {at = #weft.dims<n - 1, @j>} : (tensor<f64>, !m) -> ()
    "nest.yield"() : () -> ()
  }) {var = "j", range = #weft.dims<1, m>, kind = "serial"} : () -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "nest.kernel"() <{sym_name = "nest", access = ["update"], layouts = ["C"], guards = ["max(0, n - 1) == n - 1"]}> ({
  ^bb0(%b : memref<?x?xf64, #weft.dims<n, m>>):
    "nest.for"() ({
    ^bb0:
      %0 = "nest.walk"() ({
      ^bb0:
        %1 = "nest.load"(%b) {at = #weft.dims<@k, @j - 1>} : (memref<?x?xf64, #weft.dims<n, m>>) -> tensor<f64>
        "nest.yield"(%1) : (tensor<f64>) -> ()
      }) {vars = ["k"], range = #weft.dims<0, n>, kind = "vector", combine = ["sum"], steps = array<i64: 16>} : () -> vector<16xf64>
      %2 = "nest.across"(%0) {combine = "sum"} : (vector<16xf64>) -> tensor<f64>
      "nest.store"(%2, %b) {at = #weft.dims<n - 1, @j>} : (tensor<f64>, memref<?x?xf64, #weft.dims<n, m>>) -> ()
      "nest.yield"() : () -> ()
    }) {var = "j", range = #weft.dims<1, m>, kind = "serial"} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
