// RUN: lower-assigns
"nest.kernel"() <{access = ["update"], layouts = ["C"]}> ({
^bb0(%a : memref<?xf64, #weft.dims<n>>):
  %l = "nest.view"(%a) {vars = ["v"], at = #weft.dims<@v + 1>} : (memref<?xf64, #weft.dims<n>>) -> memref<?xf64, #weft.dims<max(0, n - 1)>>
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
    %0 = "nest.view"(%a) {vars = ["v"], at = #weft.dims<@v + 1>} : (memref<?xf64, #weft.dims<n>>) -> memref<?xf64, #weft.dims<max(0, n - 1)>>
    %1 = "nest.view"(%a) {vars = ["v"], at = #weft.dims<@v>} : (memref<?xf64, #weft.dims<n>>) -> memref<?xf64, #weft.dims<max(0, n - 1)>>
    "nest.for"() ({
    ^bb0:
      %2 = "nest.load"(%0) {at = #weft.dims<@i>} : (memref<?xf64, #weft.dims<max(0, n - 1)>>) -> tensor<f64>
      %3 = "weft.exp"(%2) : (tensor<f64>) -> tensor<f64>
      "nest.store"(%3, %1) {at = #weft.dims<@i>} : (tensor<f64>, memref<?xf64, #weft.dims<max(0, n - 1)>>) -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<0, max(0, n - 1)>, kind = "vector", width = 4 : i64, times = 2 : i64} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
