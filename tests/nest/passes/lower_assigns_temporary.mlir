// RUN: lower-assigns
"nest.kernel"() <{access = ["update"], layouts = ["C"]}> ({
^bb0(%a : memref<?xf64, #weft.dims<n>>):
  %l = "nest.view"(%a) {vars = ["v"], at = #weft.dims<n - 1 - @v>} : (memref<?xf64, #weft.dims<n>>) -> memref<?xf64, #weft.dims<max(0, n - 1)>>
  %s = "nest.view"(%a) {vars = ["v"], at = #weft.dims<@v>} : (memref<?xf64, #weft.dims<n>>) -> memref<?xf64, #weft.dims<max(0, n - 1)>>
  "nest.assign"(%l, %s) ({
  ^bb0(%x : tensor<?xf64, #weft.dims<max(0, n - 1)>>):
    %0 = "weft.exp"(%x) : (tensor<?xf64, #weft.dims<max(0, n - 1)>>) -> tensor<?xf64, #weft.dims<max(0, n - 1)>>
    "nest.yield"(%0) : (tensor<?xf64, #weft.dims<max(0, n - 1)>>) -> ()
  }) {writes = 1 : i64} : (memref<?xf64, #weft.dims<max(0, n - 1)>>, memref<?xf64, #weft.dims<max(0, n - 1)>>) -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "nest.kernel"() <{sym_name = "nest", access = ["update"], layouts = ["C"]}> ({
  ^bb0(%a : memref<?xf64, #weft.dims<n>>):
    %0 = "nest.view"(%a) {vars = ["v"], at = #weft.dims<-@v + n - 1>} : (memref<?xf64, #weft.dims<n>>) -> memref<?xf64, #weft.dims<max(0, n - 1)>>
    %1 = "nest.view"(%a) {vars = ["v"], at = #weft.dims<@v>} : (memref<?xf64, #weft.dims<n>>) -> memref<?xf64, #weft.dims<max(0, n - 1)>>
    %2 = "nest.alloc"() {place = "call"} : () -> memref<?xf64, #weft.dims<max(0, n - 1)>>
    "nest.for"() ({
    ^bb0:
      %3 = "nest.load"(%0) {at = #weft.dims<@i2>} : (memref<?xf64, #weft.dims<max(0, n - 1)>>) -> tensor<f64>
      %4 = "weft.exp"(%3) : (tensor<f64>) -> tensor<f64>
      "nest.store"(%4, %2) {at = #weft.dims<@i2>} : (tensor<f64>, memref<?xf64, #weft.dims<max(0, n - 1)>>) -> ()
      "nest.yield"() : () -> ()
    }) {var = "i2", range = #weft.dims<0, max(0, n - 1)>, kind = "vector", width = 4 : i64, times = 2 : i64} : () -> ()
    "nest.for"() ({
    ^bb0:
      %5 = "nest.load"(%2) {at = #weft.dims<@i3>} : (memref<?xf64, #weft.dims<max(0, n - 1)>>) -> tensor<f64>
      "nest.store"(%5, %1) {at = #weft.dims<@i3>} : (tensor<f64>, memref<?xf64, #weft.dims<max(0, n - 1)>>) -> ()
      "nest.yield"() : () -> ()
    }) {var = "i3", range = #weft.dims<0, max(0, n - 1)>, kind = "vector"} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
