"builtin.module"() ({
  "nest.kernel"() <{sym_name = "sparse_rows", access = ["read", "read", "read", "read", "write"], layouts = ["C", "C", "C", "C", "C"]}> ({
  ^bb0(%rows : memref<?xi64, #weft.dims<n + 1>>, %columns : memref<?xi64, #weft.dims<count>>, %values : memref<?xf64, #weft.dims<count>>, %x : memref<?xf64, #weft.dims<m>>, %y : memref<?xf64, #weft.dims<n>>):
    %0 = "weft.constant"() {value = 0.0 : f64, dtype = f64} : () -> tensor<f64>
    "nest.for"() ({
    ^bb0:
      %1 = "nest.load"(%rows) {at = #weft.dims<@i>} : (memref<?xi64, #weft.dims<n + 1>>) -> tensor<i64>
      %2 = "nest.load"(%rows) {at = #weft.dims<@i + 1>} : (memref<?xi64, #weft.dims<n + 1>>) -> tensor<i64>
      "nest.bind"(%1) {var = "first", range = #weft.dims<0, count + 1>} : (tensor<i64>) -> ()
      "nest.bind"(%2) {var = "end", range = #weft.dims<0, count + 1>} : (tensor<i64>) -> ()
      %3 = "nest.for"(%0) ({
      ^bb0(%w : tensor<f64>):
        %4 = "nest.load"(%columns) {at = #weft.dims<@k>} : (memref<?xi64, #weft.dims<count>>) -> tensor<i64>
        "nest.bind"(%4) {var = "j", range = #weft.dims<0, m>} : (tensor<i64>) -> ()
        %5 = "nest.load"(%values) {at = #weft.dims<@k>} : (memref<?xf64, #weft.dims<count>>) -> tensor<f64>
        %6 = "nest.load"(%x) {at = #weft.dims<@j>} : (memref<?xf64, #weft.dims<m>>) -> tensor<f64>
        %7 = "weft.mul"(%5, %6) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        %8 = "weft.add"(%w, %7) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        "nest.yield"(%8) : (tensor<f64>) -> ()
      }) {var = "k", range = #weft.dims<@first, @end>, kind = "serial"} : (tensor<f64>) -> tensor<f64>
      "nest.store"(%3, %y) {at = #weft.dims<@i>} : (tensor<f64>, memref<?xf64, #weft.dims<n>>) -> ()
      "nest.ask"() : () -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
