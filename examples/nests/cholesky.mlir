"builtin.module"() ({
  "nest.kernel"() <{sym_name = "cholesky", access = ["update"], layouts = ["C"]}> ({
  ^bb0(%a : memref<?x?xf64, #weft.dims<n, n>>):
    "nest.for"() ({
    ^bb0:
      "nest.for"() ({
      ^bb0:
        %0 = "nest.walk"() ({
        ^bb0:
          %1 = "nest.load"(%a) {at = #weft.dims<@i, @k>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
          %2 = "nest.load"(%a) {at = #weft.dims<@j, @k>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
          %3 = "weft.mul"(%1, %2) : (tensor<f64>, tensor<f64>) -> tensor<f64>
          "nest.yield"(%3) : (tensor<f64>) -> ()
        }) {vars = ["k"], range = #weft.dims<0, @j>, kind = "vector", width = 8 : i64, combine = ["sum"], steps = array<i64: 16>} : () -> vector<32xf64>
        %4 = "nest.across"(%0) {combine = "sum"} : (vector<32xf64>) -> tensor<f64>
        %5 = "nest.load"(%a) {at = #weft.dims<@i, @j>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
        %6 = "weft.sub"(%5, %4) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        %7 = "nest.load"(%a) {at = #weft.dims<@j, @j>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
        %8 = "weft.div"(%6, %7) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        "nest.store"(%8, %a) {at = #weft.dims<@i, @j>} : (tensor<f64>, memref<?x?xf64, #weft.dims<n, n>>) -> ()
        "nest.yield"() : () -> ()
      }) {var = "j", range = #weft.dims<0, @i>, kind = "serial"} : () -> ()
      %9 = "nest.walk"() ({
      ^bb0:
        %10 = "nest.load"(%a) {at = #weft.dims<@i, @k>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
        %11 = "weft.mul"(%10, %10) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        "nest.yield"(%11) : (tensor<f64>) -> ()
      }) {vars = ["k"], range = #weft.dims<0, @i>, kind = "vector", width = 8 : i64, combine = ["sum"], steps = array<i64: 16>} : () -> vector<32xf64>
      %12 = "nest.across"(%9) {combine = "sum"} : (vector<32xf64>) -> tensor<f64>
      %13 = "nest.load"(%a) {at = #weft.dims<@i, @i>} : (memref<?x?xf64, #weft.dims<n, n>>) -> tensor<f64>
      %14 = "weft.sub"(%13, %12) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      %15 = "weft.sqrt"(%14) : (tensor<f64>) -> tensor<f64>
      "nest.store"(%15, %a) {at = #weft.dims<@i, @i>} : (tensor<f64>, memref<?x?xf64, #weft.dims<n, n>>) -> ()
      "nest.ask"() {every = 1000000000 : i64} : () -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
