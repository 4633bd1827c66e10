// RUN: widen-loops,place-asks
"nest.kernel"() <{access = ["update"], layouts = ["C"]}> ({
^bb0(%a : memref<?x?xf64, #weft.dims<n, m>>):
  "nest.for"() ({
    "nest.for"() ({
      %0 = "nest.load"(%a) {at = #weft.dims<@i - 1, @j>} : (memref<?x?xf64, #weft.dims<n, m>>) -> tensor<f64>
      %1 = "weft.exp"(%0) : (tensor<f64>) -> tensor<f64>
      "nest.store"(%1, %a) {at = #weft.dims<@i, @j>} : (tensor<f64>, memref<?x?xf64, #weft.dims<n, m>>) -> ()
      "nest.yield"() : () -> ()
    }) {var = "j", range = #weft.dims<0, m>, kind = "serial"} : () -> ()
    "nest.yield"() : () -> ()
  }) {var = "i", range = #weft.dims<1, n>, kind = "serial"} : () -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "nest.kernel"() <{sym_name = "nest", access = ["update"], layouts = ["C"]}> ({
  ^bb0(%a : memref<?x?xf64, #weft.dims<n, m>>):
    "nest.for"() ({
    ^bb0:
      "nest.for"() ({
      ^bb0:
        %0 = "nest.load"(%a) {at = #weft.dims<@i - 1, @j>} : (memref<?x?xf64, #weft.dims<n, m>>) -> tensor<f64>
        %1 = "weft.exp"(%0) : (tensor<f64>) -> tensor<f64>
        "nest.store"(%1, %a) {at = #weft.dims<@i, @j>} : (tensor<f64>, memref<?x?xf64, #weft.dims<n, m>>) -> ()
        "nest.yield"() : () -> ()
      }) {var = "j", range = #weft.dims<0, m>, kind = "vector", times = 4 : i64, shared, grain = 128 : i64} : () -> ()
      "nest.ask"() : () -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<1, n>, kind = "serial"} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
