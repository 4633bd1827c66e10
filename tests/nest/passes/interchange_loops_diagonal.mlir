// RUN: interchange-loops
!m = memref<?x?xf64, #weft.dims<n, m>>
"nest.kernel"() <{access = ["update", "read"], layouts = ["C", "C"]}> ({
^bb0(%a : !m, %b : !m):
  "nest.for"() ({
    "nest.for"() ({
      %0 = "nest.load"(%a) {at = #weft.dims<@i + 1, @j - 1>} : (!m) -> tensor<f64>
      %1 = "nest.load"(%b) {at = #weft.dims<@i, @j>} : (!m) -> tensor<f64>
      %2 = "weft.mul"(%0, %1) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      "nest.store"(%2, %a) {at = #weft.dims<@i, @j>} : (tensor<f64>, !m) -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<0, n - 1>, kind = "vector", width = 4 : i64} : () -> ()
    "nest.yield"() : () -> ()
  }) {var = "j", range = #weft.dims<1, m>, kind = "serial"} : () -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "nest.kernel"() <{sym_name = "nest", access = ["update", "read"], layouts = ["C", "C"]}> ({
  ^bb0(%a : memref<?x?xf64, #weft.dims<n, m>>, %b : memref<?x?xf64, #weft.dims<n, m>>):
    "nest.for"() ({
    ^bb0:
      "nest.for"() ({
      ^bb0:
        %0 = "nest.load"(%a) {at = #weft.dims<@i + 1, @j - 1>} : (memref<?x?xf64, #weft.dims<n, m>>) -> tensor<f64>
        %1 = "nest.load"(%b) {at = #weft.dims<@i, @j>} : (memref<?x?xf64, #weft.dims<n, m>>) -> tensor<f64>
        %2 = "weft.mul"(%0, %1) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        "nest.store"(%2, %a) {at = #weft.dims<@i, @j>} : (tensor<f64>, memref<?x?xf64, #weft.dims<n, m>>) -> ()
        "nest.yield"() : () -> ()
      }) {var = "i", range = #weft.dims<0, n - 1>, kind = "vector", width = 4 : i64} : () -> ()
      "nest.yield"() : () -> ()
    }) {var = "j", range = #weft.dims<1, m>, kind = "serial"} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
