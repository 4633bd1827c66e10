// RUN: forward-stores
!v = memref<?xf64, #weft.dims<n>>
"nest.kernel"() <{access = ["update", "update"], layouts = ["C", "C"]}> ({
^bb0(%a : !v, %b : !v):
  "nest.for"() ({
    %0 = "nest.load"(%a) {at = #weft.dims<@i>} : (!v) -> tensor<f64>
    %1 = "nest.load"(%a) {at = #weft.dims<@i - 1>} : (!v) -> tensor<f64>
    "nest.store"(%1, %a) {at = #weft.dims<@i>} : (tensor<f64>, !v) -> ()
    %2 = "nest.load"(%a) {at = #weft.dims<@i - 1>} : (!v) -> tensor<f64>
    "nest.store"(%2, %b) {at = #weft.dims<@i>} : (tensor<f64>, !v) -> ()
    "nest.store"(%0, %b) {at = #weft.dims<-@i + n - 1>} : (tensor<f64>, !v) -> ()
    %3 = "nest.load"(%b) {at = #weft.dims<@i>} : (!v) -> tensor<f64>
    "nest.store"(%3, %a) {at = #weft.dims<@i - 1>} : (tensor<f64>, !v) -> ()
    "nest.yield"() : () -> ()
  }) {var = "i", range = #weft.dims<1, n>, kind = "serial"} : () -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "nest.kernel"() <{sym_name = "nest", access = ["update", "update"], layouts = ["C", "C"]}> ({
  ^bb0(%a : memref<?xf64, #weft.dims<n>>, %b : memref<?xf64, #weft.dims<n>>):
    "nest.for"() ({
    ^bb0:
      %0 = "nest.load"(%a) {at = #weft.dims<@i>} : (memref<?xf64, #weft.dims<n>>) -> tensor<f64>
      %1 = "nest.load"(%a) {at = #weft.dims<@i - 1>} : (memref<?xf64, #weft.dims<n>>) -> tensor<f64>
      "nest.store"(%1, %a) {at = #weft.dims<@i>} : (tensor<f64>, memref<?xf64, #weft.dims<n>>) -> ()
      "nest.store"(%1, %b) {at = #weft.dims<@i>} : (tensor<f64>, memref<?xf64, #weft.dims<n>>) -> ()
      "nest.store"(%0, %b) {at = #weft.dims<-@i + n - 1>} : (tensor<f64>, memref<?xf64, #weft.dims<n>>) -> ()
      %2 = "nest.load"(%b) {at = #weft.dims<@i>} : (memref<?xf64, #weft.dims<n>>) -> tensor<f64>
      "nest.store"(%2, %a) {at = #weft.dims<@i - 1>} : (tensor<f64>, memref<?xf64, #weft.dims<n>>) -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<1, n>, kind = "serial"} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
