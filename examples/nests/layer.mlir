"builtin.module"() ({
  "nest.kernel"() <{sym_name = "layer", access = ["read", "read", "read", "write"], layouts = ["C", "C", "C", "C"]}> ({
  ^bb0(%a : memref<?x?xf32, #weft.dims<m, k>>, %b : memref<?x?xf32, #weft.dims<k, n>>, %c : memref<?xf32, #weft.dims<n>>, %o : memref<?x?xf32, #weft.dims<m, n>>):
    "nest.product"() ({
    ^bb0(%t : tensor<f32>):
      %0 = "nest.load"(%a) {at = #weft.dims<@i, @k>} : (memref<?x?xf32, #weft.dims<m, k>>) -> tensor<f32>
      %1 = "nest.load"(%b) {at = #weft.dims<@k, @j>} : (memref<?x?xf32, #weft.dims<k, n>>) -> tensor<f32>
      "nest.terms"(%0, %1) : (tensor<f32>, tensor<f32>) -> ()
      %2 = "nest.load"(%c) {at = #weft.dims<@j>} : (memref<?xf32, #weft.dims<n>>) -> tensor<f32>
      %3 = "weft.add"(%t, %2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %4 = "weft.constant"() {value = 0.7071067811865476 : f64, dtype = f32} : () -> tensor<f32>
      %5 = "weft.constant"() {value = 1.0 : f64, dtype = f32} : () -> tensor<f32>
      %6 = "weft.constant"() {value = 0.5 : f64, dtype = f32} : () -> tensor<f32>
      %7 = "weft.mul"(%3, %4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %8 = "weft.erf"(%7) : (tensor<f32>) -> tensor<f32>
      %9 = "weft.add"(%8, %5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %10 = "weft.mul"(%3, %6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %11 = "weft.mul"(%10, %9) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "nest.store"(%11, %o) {at = #weft.dims<@i, @j>} : (tensor<f32>, memref<?x?xf32, #weft.dims<m, n>>) -> ()
      "nest.yield"() : () -> ()
    }) {vars = ["i", "j", "k"], range = #weft.dims<0, m, 0, n, 0, k>, shared, switch = #weft.dims<max(16384*k, k*m*n), 2097152>, registers = array<i64: 6, 4>, width = 16 : i64, blocks = array<i64: 240, 512, 256>, turned = array<i64>} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
