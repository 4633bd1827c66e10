"builtin.module"() ({
  "nest.kernel"() <{sym_name = "lu", access = ["update"], layouts = ["C"]}> ({
  ^bb0(%a : memref<?x?xf64, #weft.dims<n, n>>):
    "nest.for"() ({
    ^bb0:
      "nest.for"() ({
      ^bb0:
        %0 = "nest.load"(%a) {at = #weft.dims<@i, @j>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
        %1 = "nest.for"(%0) ({
        ^bb0(%w : tensor<f64>):
          %2 = "nest.load"(%a) {at = #weft.dims<@i, @k>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
          %3 = "nest.load"(%a) {at = #weft.dims<@k, @j>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
          %4 = "weft.mul"(%2, %3) : (tensor<f64>, tensor<f64>) -> tensor<f64>
          %5 = "weft.sub"(%w, %4) : (tensor<f64>, tensor<f64>) -> tensor<f64>
          "nest.yield"(%5) : (tensor<f64>) -> ()
        }) {var = "k", range = #weft.dims<0, @j>, kind = "serial"} : (tensor<f64>) -> tensor<f64>
        %6 = "nest.load"(%a) {at = #weft.dims<@j, @j>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
        %7 = "weft.div"(%1, %6) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        "nest.store"(%7, %a) {at = #weft.dims<@i, @j>} : (tensor<f64>, memref<?x?xf64, #weft.dims<n, n>>) -> ()
        "nest.yield"() : () -> ()
      }) {var = "j", range = #weft.dims<0, @i>, kind = "serial"} : () -> ()
      "nest.for"() ({
      ^bb0:
        %8 = "nest.load"(%a) {at = #weft.dims<@i, @p>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
        %9 = "nest.for"(%8) ({
        ^bb0(%v : tensor<f64>):
          %10 = "nest.load"(%a) {at = #weft.dims<@i, @k>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
          %11 = "nest.load"(%a) {at = #weft.dims<@k, @p>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
          %12 = "weft.mul"(%10, %11) : (tensor<f64>, tensor<f64>) -> tensor<f64>
          %13 = "weft.sub"(%v, %12) : (tensor<f64>, tensor<f64>) -> tensor<f64>
          "nest.yield"(%13) : (tensor<f64>) -> ()
        }) {var = "k", range = #weft.dims<0, @i>, kind = "serial"} : (tensor<f64>) -> tensor<f64>
        "nest.store"(%9, %a) {at = #weft.dims<@i, @p>} : (tensor<f64>, memref<?x?xf64, #weft.dims<n, n>>) -> ()
        "nest.yield"() : () -> ()
      }) {var = "p", range = #weft.dims<@i, n>, kind = "serial"} : () -> ()
      "nest.ask"() : () -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
