"builtin.module"() ({
  "nest.kernel"() <{sym_name = "histogram", access = ["read", "update"], layouts = ["C", "C"]}> ({
  ^bb0(%x : memref<?xi32, #weft.dims<n>>, %h : memref<?xi64, #weft.dims<bins>>):
    %0 = "weft.constant"() {value = 1 : i64, dtype = i64} : () -> tensor<i64>
    "nest.for"() ({
    ^bb0:
      %1 = "nest.load"(%x) {at = #weft.dims<@i>} : (memref<?xi32, #weft.dims<n>>) -> tensor<i32>
      "nest.bind"(%1) {var = "k", range = #weft.dims<0, bins>} : (tensor<i32>) -> ()
      %2 = "nest.load"(%h) {at = #weft.dims<@k>} : (memref<?xi64, #weft.dims<bins>>) -> tensor<i64>
      %3 = "weft.add"(%2, %0) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      "nest.store"(%3, %h) {at = #weft.dims<@k>} : (tensor<i64>, memref<?xi64, #weft.dims<bins>>) -> ()
      "nest.ask"() : () -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
