// RUN: lower-assigns
"nest.kernel"() <{access = ["read", "write"], layouts = ["C", "C"]}> ({
^bb0(%a : memref<?xf64, #weft.dims<n>>, %b : memref<?xf64, #weft.dims<n>>):
  "nest.assign"(%a, %b) ({
  ^bb0(%x : tensor<?xf64, #weft.dims<n>>):
    %0 = "weft.constant"() {value = 2 : i64, dtype = !weft.weak<int>} : () -> !weft.weak<int>
    %1 = "weft.mul"(%x, %0) : (tensor<?xf64, #weft.dims<n>>, !weft.weak<int>) -> tensor<?xf64, #weft.dims<n>>
    "nest.yield"(%1) : (tensor<?xf64, #weft.dims<n>>) -> ()
  }) {writes = 1 : i64} : (memref<?xf64, #weft.dims<n>>, memref<?xf64, #weft.dims<n>>) -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "nest.kernel"() <{sym_name = "nest", access = ["read", "write"], layouts = ["C", "C"]}> ({
  ^bb0(%a : memref<?xf64, #weft.dims<n>>, %b : memref<?xf64, #weft.dims<n>>):
    %0 = "weft.constant"() {value = 2.0 : f64, dtype = f64} : () -> tensor<f64>
    "nest.for"() ({
    ^bb0:
      %1 = "nest.load"(%a) {at = #weft.dims<@i>} : (memref<?xf64, #weft.dims<n>>) -> tensor<f64>
      %2 = "weft.mul"(%1, %0) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "nest.store"(%2, %b) {at = #weft.dims<@i>} : (tensor<f64>, memref<?xf64, #weft.dims<n>>) -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "vector", width = 4 : i64, times = 4 : i64} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
