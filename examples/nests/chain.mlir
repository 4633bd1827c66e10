"builtin.module"() ({
  "nest.kernel"() <{sym_name = "chain", access = ["read", "read", "write"], layouts = ["C", "C", "C"]}> ({
  ^bb0(%a : memref<?xf32, #weft.dims<n>>, %b : memref<?xf32, #weft.dims<n>>, %o : memref<?xf32, #weft.dims<n>>):
    "nest.for"() ({
    ^bb0:
      %0 = "nest.load"(%a) {at = #weft.dims<@i>} : (memref<?xf32, #weft.dims<n>>) -> tensor<f32>
      %1 = "nest.load"(%b) {at = #weft.dims<@i>} : (memref<?xf32, #weft.dims<n>>) -> tensor<f32>
      %2 = "weft.mul"(%0, %1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %3 = "weft.constant"() {value = 2.0 : f64, dtype = f32} : () -> tensor<f32>
      %4 = "weft.add"(%2, %3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "nest.store"(%4, %o) {at = #weft.dims<@i>} : (tensor<f32>, memref<?xf32, #weft.dims<n>>) -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "vector", width = 16 : i64, times = 4 : i64, line = 2 : i64, shared, grain = 64 : i64} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
