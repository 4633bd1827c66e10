"builtin.module"() ({
  "nest.kernel"() <{sym_name = "gauss_seidel", access = ["update"], layouts = ["C"]}> ({
  ^bb0(%a : memref<?x?xf64, #weft.dims<n, n>>):
    "nest.for"() ({
    ^bb0:
      "nest.for"() ({
      ^bb0:
        "nest.for"() ({
        ^bb0:
          %0 = "nest.load"(%a) {at = #weft.dims<@i - 1, @j - 1>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
          %1 = "nest.load"(%a) {at = #weft.dims<@i - 1, @j>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
          %2 = "weft.add"(%0, %1) : (tensor<f64>, tensor<f64>) -> tensor<f64>
          %3 = "nest.load"(%a) {at = #weft.dims<@i - 1, @j + 1>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
          %4 = "weft.add"(%2, %3) : (tensor<f64>, tensor<f64>) -> tensor<f64>
          %5 = "nest.load"(%a) {at = #weft.dims<@i, @j - 1>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
          %6 = "weft.add"(%4, %5) : (tensor<f64>, tensor<f64>) -> tensor<f64>
          %7 = "nest.load"(%a) {at = #weft.dims<@i, @j>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
          %8 = "weft.add"(%6, %7) : (tensor<f64>, tensor<f64>) -> tensor<f64>
          %9 = "nest.load"(%a) {at = #weft.dims<@i, @j + 1>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
          %10 = "weft.add"(%8, %9) : (tensor<f64>, tensor<f64>) -> tensor<f64>
          %11 = "nest.load"(%a) {at = #weft.dims<@i + 1, @j - 1>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
          %12 = "weft.add"(%10, %11) : (tensor<f64>, tensor<f64>) -> tensor<f64>
          %13 = "nest.load"(%a) {at = #weft.dims<@i + 1, @j>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
          %14 = "weft.add"(%12, %13) : (tensor<f64>, tensor<f64>) -> tensor<f64>
          %15 = "nest.load"(%a) {at = #weft.dims<@i + 1, @j + 1>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
          %16 = "weft.add"(%14, %15) : (tensor<f64>, tensor<f64>) -> tensor<f64>
          %17 = "weft.constant"() {value = 9.0 : f64, dtype = f64} : () -> tensor<f64>
          %18 = "weft.div"(%16, %17) : (tensor<f64>, tensor<f64>) -> tensor<f64>
          "nest.store"(%18, %a) {at = #weft.dims<@i, @j>} : (tensor<f64>, memref<?x?xf64, #weft.dims<n, n>>) -> ()
          "nest.yield"() : () -> ()
        }) {var = "j", range = #weft.dims<1, n - 1>, kind = "serial"} : () -> ()
        "nest.ask"() : () -> ()
        "nest.yield"() : () -> ()
      }) {var = "i", range = #weft.dims<1, n - 1>, kind = "serial"} : () -> ()
      "nest.yield"() : () -> ()
    }) {var = "t", range = #weft.dims<0, steps>, kind = "serial"} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
