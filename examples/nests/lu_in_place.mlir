"builtin.module"() ({
  "nest.kernel"() <{sym_name = "lu_in_place", access = ["update"], layouts = ["C"]}> ({
  ^bb0(%a : memref<?x?xf64, #weft.dims<n, n>>):
    "nest.for"() ({
    ^bb0:
      "nest.for"() ({
      ^bb0:
        "nest.for"() ({
        ^bb0:
          %0 = "nest.load"(%a) {at = #weft.dims<@i, @j>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
          %1 = "nest.load"(%a) {at = #weft.dims<@i, @k>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
          %2 = "nest.load"(%a) {at = #weft.dims<@k, @j>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
          %3 = "weft.mul"(%1, %2) : (tensor<f64>, tensor<f64>) -> tensor<f64>
          %4 = "weft.sub"(%0, %3) : (tensor<f64>, tensor<f64>) -> tensor<f64>
          "nest.store"(%4, %a) {at = #weft.dims<@i, @j>} : (tensor<f64>, memref<?x?xf64, #weft.dims<n, n>>) -> ()
          "nest.yield"() : () -> ()
        }) {var = "k", range = #weft.dims<0, @j>, kind = "serial"} : () -> ()
        %5 = "nest.load"(%a) {at = #weft.dims<@i, @j>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
        %6 = "nest.load"(%a) {at = #weft.dims<@j, @j>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
        %7 = "weft.div"(%5, %6) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        "nest.store"(%7, %a) {at = #weft.dims<@i, @j>} : (tensor<f64>, memref<?x?xf64, #weft.dims<n, n>>) -> ()
        "nest.yield"() : () -> ()
      }) {var = "j", range = #weft.dims<0, @i>, kind = "serial"} : () -> ()
      "nest.for"() ({
      ^bb0:
        "nest.for"() ({
        ^bb0:
          %8 = "nest.load"(%a) {at = #weft.dims<@i, @j_1>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
          %9 = "nest.load"(%a) {at = #weft.dims<@i, @k_1>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
          %10 = "nest.load"(%a) {at = #weft.dims<@k_1, @j_1>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
          %11 = "weft.mul"(%9, %10) : (tensor<f64>, tensor<f64>) -> tensor<f64>
          %12 = "weft.sub"(%8, %11) : (tensor<f64>, tensor<f64>) -> tensor<f64>
          "nest.store"(%12, %a) {at = #weft.dims<@i, @j_1>} : (tensor<f64>, memref<?x?xf64, #weft.dims<n, n>>) -> ()
          "nest.yield"() : () -> ()
        }) {var = "k_1", range = #weft.dims<0, @i>, kind = "serial"} : () -> ()
        "nest.yield"() : () -> ()
      }) {var = "j_1", range = #weft.dims<@i, n>, kind = "serial"} : () -> ()
      "nest.ask"() : () -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
