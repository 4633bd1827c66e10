// RUN: lower-assigns
// A row and a column of the result are copied, which is cheaper than a copy of the result.
"nest.kernel"() <{sym_name = "narrow", access = ["update"], layouts = ["C"]}> ({
^bb0(%a : memref<?x?xf64, #weft.dims<n, n>>):
  %0 = "nest.view"(%a) {vars = ["v"], at = #weft.dims<@v, 1>} : (memref<?x?xf64, #weft.dims<n, n>>) -> memref<?xf64, #weft.dims<n>>
  %1 = "nest.view"(%a) {vars = ["w"], at = #weft.dims<1, @w>} : (memref<?x?xf64, #weft.dims<n, n>>) -> memref<?xf64, #weft.dims<n>>
  "nest.assign"(%a, %0, %1, %a) ({
  ^bb0(%x : tensor<?x?xf64, #weft.dims<n, n>>, %c : tensor<?xf64, #weft.dims<n>>, %r : tensor<?xf64, #weft.dims<n>>):
    %2 = "weft.reshape"(%c) {shape = #weft.dims<n, 1>} : (tensor<?xf64, #weft.dims<n>>) -> tensor<?x1xf64, #weft.dims<n, 1>>
    %3 = "weft.add"(%2, %r) : (tensor<?x1xf64, #weft.dims<n, 1>>, tensor<?xf64, #weft.dims<n>>) -> tensor<?x?xf64, #weft.dims<n, n>>
    %4 = "weft.minimum"(%x, %3) : (tensor<?x?xf64, #weft.dims<n, n>>, tensor<?x?xf64, #weft.dims<n, n>>) -> tensor<?x?xf64, #weft.dims<n, n>>
    "nest.yield"(%4) : (tensor<?x?xf64, #weft.dims<n, n>>) -> ()
  }) {writes = 1 : i64} : (memref<?x?xf64, #weft.dims<n, n>>, memref<?xf64, #weft.dims<n>>, memref<?xf64, #weft.dims<n>>, memref<?x?xf64, #weft.dims<n, n>>) -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "nest.kernel"() <{sym_name = "narrow", access = ["update"], layouts = ["C"], guards = ["max(0, n - 2) == n - 2"]}> ({
  ^bb0(%a : memref<?x?xf64, #weft.dims<n, n>>):
    %0 = "nest.view"(%a) {vars = ["v"], at = #weft.dims<@v, 1>} : (memref<?x?xf64, #weft.dims<n, n>>) -> memref<?xf64, #weft.dims<n>>
    %1 = "nest.view"(%a) {vars = ["w"], at = #weft.dims<1, @w>} : (memref<?x?xf64, #weft.dims<n, n>>) -> memref<?xf64, #weft.dims<n>>
    %2 = "nest.alloc"() {place = "call"} : () -> memref<?xf64, #weft.dims<n>>
    %3 = "nest.alloc"() {place = "call"} : () -> memref<?xf64, #weft.dims<n>>
    "nest.for"() ({
    ^bb0:
      %4 = "nest.load"(%0) {at = #weft.dims<@i4>} : (memref<?xf64, #weft.dims<n>>) -> tensor<f64>
      "nest.store"(%4, %2) {at = #weft.dims<@i4>} : (tensor<f64>, memref<?xf64, #weft.dims<n>>) -> ()
      "nest.yield"() : () -> ()
    }) {var = "i4", range = #weft.dims<0, n>, kind = "vector"} : () -> ()
    "nest.for"() ({
    ^bb0:
      %5 = "nest.load"(%1) {at = #weft.dims<@i5>} : (memref<?xf64, #weft.dims<n>>) -> tensor<f64>
      "nest.store"(%5, %3) {at = #weft.dims<@i5>} : (tensor<f64>, memref<?xf64, #weft.dims<n>>) -> ()
      "nest.yield"() : () -> ()
    }) {var = "i5", range = #weft.dims<0, n>, kind = "vector"} : () -> ()
    "nest.for"() ({
    ^bb0:
      %6 = "nest.load"(%2) {at = #weft.dims<@i6>} : (memref<?xf64, #weft.dims<n>>) -> tensor<f64>
      "nest.for"() ({
      ^bb0:
        %7 = "nest.load"(%a) {at = #weft.dims<@i6, @j4>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
        %8 = "nest.load"(%3) {at = #weft.dims<@j4>} : (memref<?xf64, #weft.dims<n>>) -> tensor<f64>
        %9 = "weft.add"(%6, %8) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        %10 = "weft.minimum"(%7, %9) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        "nest.store"(%10, %a) {at = #weft.dims<@i6, @j4>} : (tensor<f64>, memref<?x?xf64, #weft.dims<n, n>>) -> ()
        "nest.yield"() : () -> ()
      }) {var = "j4", range = #weft.dims<0, n>, kind = "vector", width = 4 : i64, times = 4 : i64} : () -> ()
      "nest.yield"() : () -> ()
    }) {var = "i6", range = #weft.dims<0, n>, kind = "serial"} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
