// RUN: fuse-loops,forward-stores
!v = memref<?xf64, #weft.dims<n>>
"nest.kernel"() <{access = ["read", "write"], layouts = ["C", "C"]}> ({
^bb0(%a : !v, %b : !v):
  %t = "nest.alloc"() {place = "call"} : () -> !v
  "nest.for"() ({
    %0 = "nest.load"(%a) {at = #weft.dims<@i>} : (!v) -> tensor<f64>
    %1 = "weft.exp"(%0) : (tensor<f64>) -> tensor<f64>
    "nest.store"(%1, %t) {at = #weft.dims<@i>} : (tensor<f64>, !v) -> ()
    "nest.yield"() : () -> ()
  }) {var = "i", range = #weft.dims<0, n>, kind = "vector"} : () -> ()
  "nest.for"() ({
    %2 = "nest.load"(%t) {at = #weft.dims<@j>} : (!v) -> tensor<f64>
    %3 = "nest.load"(%a) {at = #weft.dims<@j>} : (!v) -> tensor<f64>
    %4 = "weft.mul"(%2, %3) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "nest.store"(%4, %b) {at = #weft.dims<@j>} : (tensor<f64>, !v) -> ()
    "nest.yield"() : () -> ()
  }) {var = "j", range = #weft.dims<0, n>, kind = "vector"} : () -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "nest.kernel"() <{sym_name = "nest", access = ["read", "write"], layouts = ["C", "C"]}> ({
  ^bb0(%a : memref<?xf64, #weft.dims<n>>, %b : memref<?xf64, #weft.dims<n>>):
    "nest.for"() ({
    ^bb0:
      %0 = "nest.load"(%a) {at = #weft.dims<@i>} : (memref<?xf64, #weft.dims<n>>) -> tensor<f64>
      %1 = "weft.exp"(%0) : (tensor<f64>) -> tensor<f64>
      %2 = "weft.mul"(%1, %0) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "nest.store"(%2, %b) {at = #weft.dims<@i>} : (tensor<f64>, memref<?xf64, #weft.dims<n>>) -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "vector"} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
