// RUN: unroll-loops
"nest.kernel"() <{access = ["read", "write"], layouts = ["C", "scalar"]}> ({
^bb0(%a : memref<?xi64, #weft.dims<n>>, %b : memref<i64>):
  %0 = "weft.constant"() {value = 1 : i64, dtype = i64} : () -> tensor<i64>
  %1 = "nest.for"(%0) ({
  ^bb0(%c : tensor<i64>):
    %2 = "nest.load"(%a) {at = #weft.dims<@i>} : (memref<?xi64, #weft.dims<n>>) -> tensor<i64>
    %3 = "nest.for"(%c) ({
    ^bb0(%d : tensor<i64>):
      %4 = "weft.bitwise_xor"(%d, %2) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      "nest.yield"(%4) : (tensor<i64>) -> ()
    }) {var = "k", range = #weft.dims<0, 3>, kind = "serial"} : (tensor<i64>) -> tensor<i64>
    "nest.yield"(%3) : (tensor<i64>) -> ()
  }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : (tensor<i64>) -> tensor<i64>
  "nest.store"(%1, %b) {at = #weft.dims<>} : (tensor<i64>, memref<i64>) -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "nest.kernel"() <{sym_name = "nest", access = ["read", "write"], layouts = ["C", "scalar"]}> ({
  ^bb0(%a : memref<?xi64, #weft.dims<n>>, %b : memref<i64>):
    %0 = "weft.constant"() {value = 1 : i64, dtype = i64} : () -> tensor<i64>
    %1 = "nest.for"(%0) ({
    ^bb0(%c : tensor<i64>):
      %2 = "nest.load"(%a) {at = #weft.dims<@i>} : (memref<?xi64, #weft.dims<n>>) -> tensor<i64>
      %3 = "nest.for"(%c) ({
      ^bb0(%d : tensor<i64>):
        %4 = "weft.bitwise_xor"(%d, %2) : (tensor<i64>, tensor<i64>) -> tensor<i64>
        "nest.yield"(%4) : (tensor<i64>) -> ()
      }) {var = "k", range = #weft.dims<0, 3>, kind = "unrolled"} : (tensor<i64>) -> tensor<i64>
      "nest.yield"(%3) : (tensor<i64>) -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : (tensor<i64>) -> tensor<i64>
    "nest.store"(%1, %b) {at = #weft.dims<>} : (tensor<i64>, memref<i64>) -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
