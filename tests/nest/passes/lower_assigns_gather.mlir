// RUN: lower-assigns
"nest.kernel"() <{access = ["read", "read", "write"], layouts = ["C", "C", "C"]}> ({
^bb0(%a : memref<?xf64, #weft.dims<n>>, %k : memref<?xi64, #weft.dims<m>>, %b : memref<?xf64, #weft.dims<m>>):
  "nest.assign"(%a, %k, %b) ({
  ^bb0(%x : tensor<?xf64, #weft.dims<n>>, %y : tensor<?xi64, #weft.dims<m>>):
    %0 = "weft.gather"(%x, %y) {axes = array<i64: 0>} : (tensor<?xf64, #weft.dims<n>>, tensor<?xi64, #weft.dims<m>>) -> tensor<?xf64, #weft.dims<m>>
    "nest.yield"(%0) : (tensor<?xf64, #weft.dims<m>>) -> ()
  }) {writes = 1 : i64} : (memref<?xf64, #weft.dims<n>>, memref<?xi64, #weft.dims<m>>, memref<?xf64, #weft.dims<m>>) -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "nest.kernel"() <{sym_name = "nest", access = ["read", "read", "write"], layouts = ["C", "C", "C"]}> ({
  ^bb0(%a : memref<?xf64, #weft.dims<n>>, %k : memref<?xi64, #weft.dims<m>>, %b : memref<?xf64, #weft.dims<m>>):
    "nest.for"() ({
    ^bb0:
      %0 = "nest.load"(%k) {at = #weft.dims<@i>} : (memref<?xi64, #weft.dims<m>>) -> tensor<i64>
      %1 = "weft.constant"() {value = 0 : i64, dtype = i64} : () -> tensor<i64>
      %2 = "weft.size"() {size = #weft.dims<n>} : () -> tensor<i64>
      %3 = "weft.lt"(%0, %1) : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %4 = "weft.add"(%0, %2) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      %5 = "weft.where"(%3, %4, %0) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
      "nest.bind"(%5) {var = "at", range = #weft.dims<0, n>} : (tensor<i64>) -> ()
      %6 = "nest.load"(%a) {at = #weft.dims<@at>} : (memref<?xf64, #weft.dims<n>>) -> tensor<f64>
      "nest.store"(%6, %b) {at = #weft.dims<@i>} : (tensor<f64>, memref<?xf64, #weft.dims<m>>) -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<0, m>, kind = "vector", width = 4 : i64, times = 4 : i64} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
