// RUN: lower-assigns
"nest.kernel"() <{access = ["update"], layouts = ["C"]}> ({
^bb0(%a : memref<?x2xf64, #weft.dims<n, 2>>):
  %r = "nest.view"(%a) {vars = ["v"], at = #weft.dims<@v, 0>} : (memref<?x2xf64, #weft.dims<n, 2>>) -> memref<?xf64, #weft.dims<n>>
  %i = "nest.view"(%a) {vars = ["v"], at = #weft.dims<@v, 1>} : (memref<?x2xf64, #weft.dims<n, 2>>) -> memref<?xf64, #weft.dims<n>>
  "nest.assign"(%r, %i, %r, %i) ({
  ^bb0(%x : tensor<?xf64, #weft.dims<n>>, %y : tensor<?xf64, #weft.dims<n>>):
    %0 = "weft.sub"(%x, %y) : (tensor<?xf64, #weft.dims<n>>, tensor<?xf64, #weft.dims<n>>) -> tensor<?xf64, #weft.dims<n>>
    %1 = "weft.mul"(%x, %y) : (tensor<?xf64, #weft.dims<n>>, tensor<?xf64, #weft.dims<n>>) -> tensor<?xf64, #weft.dims<n>>
    "nest.yield"(%0, %1) : (tensor<?xf64, #weft.dims<n>>, tensor<?xf64, #weft.dims<n>>) -> ()
  }) {writes = 2 : i64} : (memref<?xf64, #weft.dims<n>>, memref<?xf64, #weft.dims<n>>, memref<?xf64, #weft.dims<n>>, memref<?xf64, #weft.dims<n>>) -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "nest.kernel"() <{sym_name = "nest", access = ["update"], layouts = ["C"]}> ({
  ^bb0(%a : memref<?x2xf64, #weft.dims<n, 2>>):
    %0 = "nest.view"(%a) {vars = ["v"], at = #weft.dims<@v, 0>} : (memref<?x2xf64, #weft.dims<n, 2>>) -> memref<?xf64, #weft.dims<n>>
    %1 = "nest.view"(%a) {vars = ["v"], at = #weft.dims<@v, 1>} : (memref<?x2xf64, #weft.dims<n, 2>>) -> memref<?xf64, #weft.dims<n>>
    "nest.for"() ({
    ^bb0:
      %2 = "nest.load"(%0) {at = #weft.dims<@i>} : (memref<?xf64, #weft.dims<n>>) -> tensor<f64>
      %3 = "nest.load"(%1) {at = #weft.dims<@i>} : (memref<?xf64, #weft.dims<n>>) -> tensor<f64>
      %4 = "weft.sub"(%2, %3) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      %5 = "weft.mul"(%2, %3) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "nest.store"(%4, %0) {at = #weft.dims<@i>} : (tensor<f64>, memref<?xf64, #weft.dims<n>>) -> ()
      "nest.store"(%5, %1) {at = #weft.dims<@i>} : (tensor<f64>, memref<?xf64, #weft.dims<n>>) -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "vector", width = 4 : i64, times = 1 : i64} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
