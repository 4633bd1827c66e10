// RUN: jam-loops
!a = memref<?x?xf64, #weft.dims<n, k>>
!b = memref<?x?xf64, #weft.dims<k, k>>
"nest.kernel"() <{access = ["update", "read", "update"], layouts = ["C", "C", "C"]}> ({
^bb0(%a : !a, %b : !b, %c : !a):
  "nest.for"() ({
    "nest.for"() ({
      %0 = "nest.walk"() ({
        %1 = "nest.load"(%a) {at = #weft.dims<@i, @k>} : (!a) -> tensor<f64>
        %2 = "nest.load"(%b) {at = #weft.dims<@k, @j>} : (!b) -> tensor<f64>
        %3 = "weft.mul"(%1, %2) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        "nest.yield"(%3) : (tensor<f64>) -> ()
      }) {vars = ["k"], range = #weft.dims<0, k>, kind = "serial", combine = ["sum"], steps = array<i64: 16>} : () -> tensor<f64>
      "nest.store"(%0, %c) {at = #weft.dims<@i, @j>} : (tensor<f64>, !a) -> ()
      "nest.yield"() : () -> ()
    }) {var = "j", range = #weft.dims<0, k>, kind = "vector", times = 16 : i64} : () -> ()
    "nest.for"() ({
      %4 = "nest.load"(%c) {at = #weft.dims<@i, @l>} : (!a) -> tensor<f64>
      "nest.store"(%4, %a) {at = #weft.dims<@i, @l>} : (tensor<f64>, !a) -> ()
      "nest.yield"() : () -> ()
    }) {var = "l", range = #weft.dims<0, k>, kind = "vector", times = 4 : i64} : () -> ()
    "nest.yield"() : () -> ()
  }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : () -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "nest.kernel"() <{sym_name = "nest", access = ["update", "read", "update"], layouts = ["C", "C", "C"]}> ({
  ^bb0(%a : memref<?x?xf64, #weft.dims<n, k>>, %b : memref<?x?xf64, #weft.dims<k, k>>, %c : memref<?x?xf64, #weft.dims<n, k>>):
    "nest.for"() ({
    ^bb0:
      "nest.for"() ({
      ^bb0:
        %0 = "nest.walk"() ({
        ^bb0:
          %1 = "nest.load"(%a) {at = #weft.dims<@i, @k>} : (memref<?x?xf64, #weft.dims<n, k>>) -> tensor<f64>
          %2 = "nest.load"(%b) {at = #weft.dims<@k, @j>} : (memref<?x?xf64, #weft.dims<k, k>>) -> tensor<f64>
          %3 = "weft.mul"(%1, %2) : (tensor<f64>, tensor<f64>) -> tensor<f64>
          "nest.yield"(%3) : (tensor<f64>) -> ()
        }) {vars = ["k"], range = #weft.dims<0, k>, kind = "serial", combine = ["sum"], steps = array<i64: 16>} : () -> tensor<f64>
        "nest.store"(%0, %c) {at = #weft.dims<@i, @j>} : (tensor<f64>, memref<?x?xf64, #weft.dims<n, k>>) -> ()
        "nest.yield"() : () -> ()
      }) {var = "j", range = #weft.dims<0, k>, kind = "vector", times = 4 : i64} : () -> ()
      "nest.for"() ({
      ^bb0:
        %4 = "nest.load"(%c) {at = #weft.dims<@i, @l>} : (memref<?x?xf64, #weft.dims<n, k>>) -> tensor<f64>
        "nest.store"(%4, %a) {at = #weft.dims<@i, @l>} : (tensor<f64>, memref<?x?xf64, #weft.dims<n, k>>) -> ()
        "nest.yield"() : () -> ()
      }) {var = "l", range = #weft.dims<0, k>, kind = "vector", times = 1 : i64} : () -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "jammed", times = 4 : i64} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
