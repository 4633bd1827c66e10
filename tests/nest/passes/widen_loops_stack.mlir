// RUN: widen-loops
"nest.kernel"() <{access = ["read", "read", "write"], layouts = ["C", "C", "C"]}> ({
^bb0(%a : memref<?x?x8xf64, #weft.dims<n, m, 8>>, %b : memref<8x8xf64, #weft.dims<8, 8>>, %c : memref<?x?x8xf64, #weft.dims<n, m, 8>>):
  "nest.for"() ({
    "nest.product"() ({
    ^bb0(%t : tensor<f64>):
      %0 = "nest.load"(%a) {at = #weft.dims<@i, @j, @p>} : (memref<?x?x8xf64, #weft.dims<n, m, 8>>) -> tensor<f64>
      %1 = "nest.load"(%b) {at = #weft.dims<@p, @k>} : (memref<8x8xf64, #weft.dims<8, 8>>) -> tensor<f64>
      "nest.terms"(%0, %1) : (tensor<f64>, tensor<f64>) -> ()
      "nest.store"(%t, %c) {at = #weft.dims<@i, @j, @k>} : (tensor<f64>, memref<?x?x8xf64, #weft.dims<n, m, 8>>) -> ()
      "nest.yield"() : () -> ()
    }) {vars = ["j", "k", "p"], range = #weft.dims<0, m, 0, 8, 0, 8>} : () -> ()
    "nest.yield"() : () -> ()
  }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : () -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "nest.kernel"() <{sym_name = "nest", access = ["read", "read", "write"], layouts = ["C", "C", "C"]}> ({
  ^bb0(%a : memref<?x?x8xf64, #weft.dims<n, m, 8>>, %b : memref<8x8xf64>, %c : memref<?x?x8xf64, #weft.dims<n, m, 8>>):
    "nest.for"() ({
    ^bb0:
      "nest.for"() ({
      ^bb0:
        "nest.product"() ({
        ^bb0(%t : tensor<f64>):
          %0 = "nest.load"(%a) {at = #weft.dims<@i, @j, @p>} : (memref<?x?x8xf64, #weft.dims<n, m, 8>>) -> tensor<f64>
          %1 = "nest.load"(%b) {at = #weft.dims<@p, @k>} : (memref<8x8xf64>) -> tensor<f64>
          "nest.terms"(%0, %1) : (tensor<f64>, tensor<f64>) -> ()
          "nest.store"(%t, %c) {at = #weft.dims<@i, @j, @k>} : (tensor<f64>, memref<?x?x8xf64, #weft.dims<n, m, 8>>) -> ()
          "nest.yield"() : () -> ()
        }) {vars = ["j", "k", "p"], range = #weft.dims<240*@b, min(240*@b + 240, m), 0, 8, 0, 8>} : () -> ()
        "nest.yield"() : () -> ()
      }) {var = "b", range = #weft.dims<0, floordiv(m + 239, 240)>, kind = "serial", shared} : () -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "serial", shared} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
