// RUN: fuse-loops,forward-stores
!v = memref<?xf64, #weft.dims<n>>
"nest.kernel"() <{access = ["read", "write"], layouts = ["C", "C"], guards = ["max(1, n) == n"]}> ({
^bb0(%a : !v, %b : !v):
  %t = "nest.alloc"() {place = "call"} : () -> !v
  "nest.for"() ({
    %0 = "nest.load"(%a) {at = #weft.dims<@i>} : (!v) -> tensor<f64>
    "nest.store"(%0, %t) {at = #weft.dims<@i>} : (tensor<f64>, !v) -> ()
    "nest.yield"() : () -> ()
  }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : () -> ()
  "nest.for"() ({
    %2 = "nest.load"(%t) {at = #weft.dims<n - 1 - @j>} : (!v) -> tensor<f64>
    "nest.store"(%2, %b) {at = #weft.dims<@j>} : (tensor<f64>, !v) -> ()
    "nest.yield"() : () -> ()
  }) {var = "j", range = #weft.dims<0, n>, kind = "serial"} : () -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "nest.kernel"() <{sym_name = "nest", access = ["read", "write"], layouts = ["C", "C"], guards = ["max(1, n) == n"]}> ({
  ^bb0(%a : memref<?xf64, #weft.dims<n>>, %b : memref<?xf64, #weft.dims<n>>):
    %0 = "nest.alloc"() {place = "call"} : () -> memref<?xf64, #weft.dims<n>>
    "nest.for"() ({
    ^bb0:
      %1 = "nest.load"(%a) {at = #weft.dims<@i>} : (memref<?xf64, #weft.dims<n>>) -> tensor<f64>
      "nest.store"(%1, %0) {at = #weft.dims<@i>} : (tensor<f64>, memref<?xf64, #weft.dims<n>>) -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : () -> ()
    "nest.for"() ({
    ^bb0:
      %2 = "nest.load"(%0) {at = #weft.dims<-@j + n - 1>} : (memref<?xf64, #weft.dims<n>>) -> tensor<f64>
      "nest.store"(%2, %b) {at = #weft.dims<@j>} : (tensor<f64>, memref<?xf64, #weft.dims<n>>) -> ()
      "nest.yield"() : () -> ()
    }) {var = "j", range = #weft.dims<0, n>, kind = "serial"} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
