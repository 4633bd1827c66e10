// RUN: lower-assigns
"nest.kernel"() <{access = ["update"], layouts = ["C"]}> ({
^bb0(%a : memref<?x?xf64, #weft.dims<n, n>>):
  "nest.for"() ({
    %r = "nest.view"(%a) {vars = ["v"], at = #weft.dims<@i, @v>} : (memref<?x?xf64, #weft.dims<n, n>>) -> memref<?xf64, #weft.dims<@i>>
    %t = "nest.view"(%a) {vars = [], at = #weft.dims<@i, @i>} : (memref<?x?xf64, #weft.dims<n, n>>) -> memref<f64>
    "nest.assign"(%r, %t) ({
    ^bb0(%x : tensor<?xf64, #weft.dims<@i>>):
      %0 = "weft.sum"(%x) {axes = array<i64: 0>} : (tensor<?xf64, #weft.dims<@i>>) -> tensor<f64>
      "nest.yield"(%0) : (tensor<f64>) -> ()
    }) {writes = 1 : i64} : (memref<?xf64, #weft.dims<@i>>, memref<f64>) -> ()
    "nest.yield"() : () -> ()
  }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : () -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "nest.kernel"() <{sym_name = "nest", access = ["update"], layouts = ["C"]}> ({
  ^bb0(%a : memref<?x?xf64, #weft.dims<n, n>>):
    "nest.for"() ({
    ^bb0:
      %0 = "nest.view"(%a) {vars = ["v"], at = #weft.dims<@i, @v>} : (memref<?x?xf64, #weft.dims<n, n>>) -> memref<?xf64, #weft.dims<@i>>
      %1 = "nest.view"(%a) {vars = array<i64>, at = #weft.dims<@i, @i>} : (memref<?x?xf64, #weft.dims<n, n>>) -> memref<f64>
      %2 = "nest.walk"() ({
      ^bb0:
        %3 = "nest.load"(%0) {at = #weft.dims<@i1>} : (memref<?xf64, #weft.dims<@i>>) -> tensor<f64>
        "nest.yield"(%3) : (tensor<f64>) -> ()
      }) {vars = ["i1"], range = #weft.dims<0, @i>, kind = "vector", combine = ["sum"], steps = array<i64: 16>, width = 4 : i64, times = 4 : i64} : () -> vector<32xf64>
      %4 = "nest.across"(%2) {combine = "sum"} : (vector<32xf64>) -> tensor<f64>
      "nest.store"(%4, %1) {at = #weft.dims<>} : (tensor<f64>, memref<f64>) -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
