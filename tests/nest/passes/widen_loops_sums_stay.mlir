// RUN: widen-loops
"nest.kernel"() <{access = ["read", "update"], layouts = ["C", "C"]}> ({
^bb0(%a : memref<?xf64, #weft.dims<n>>, %s : memref<f64>):
  %0 = "nest.load"(%s) {at = #weft.dims<>} : (memref<f64>) -> tensor<f64>
  %1 = "nest.for"(%0) ({
  ^bb0(%t : tensor<f64>):
    %2 = "nest.load"(%a) {at = #weft.dims<@i>} : (memref<?xf64, #weft.dims<n>>) -> tensor<f64>
    %3 = "weft.add"(%t, %2) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "nest.yield"(%3) : (tensor<f64>) -> ()
  }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : (tensor<f64>) -> tensor<f64>
  "nest.store"(%1, %s) {at = #weft.dims<>} : (tensor<f64>, memref<f64>) -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "nest.kernel"() <{sym_name = "nest", access = ["read", "update"], layouts = ["C", "C"]}> ({
  ^bb0(%a : memref<?xf64, #weft.dims<n>>, %s : memref<f64>):
    %0 = "nest.load"(%s) {at = #weft.dims<>} : (memref<f64>) -> tensor<f64>
    %1 = "nest.for"(%0) ({
    ^bb0(%t : tensor<f64>):
      %2 = "nest.load"(%a) {at = #weft.dims<@i>} : (memref<?xf64, #weft.dims<n>>) -> tensor<f64>
      %3 = "weft.add"(%t, %2) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "nest.yield"(%3) : (tensor<f64>) -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : (tensor<f64>) -> tensor<f64>
    "nest.store"(%1, %s) {at = #weft.dims<>} : (tensor<f64>, memref<f64>) -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
