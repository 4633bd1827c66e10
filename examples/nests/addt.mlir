"builtin.module"() ({
  "nest.kernel"() <{sym_name = "addt", access = ["read", "read", "write"], layouts = ["C", "C", "C"]}> ({
  ^bb0(%a : memref<?x?xf32, #weft.dims<n, m>>, %b : memref<?x?xf32, #weft.dims<m, n>>, %o : memref<?x?xf32, #weft.dims<n, m>>):
    "nest.for"() ({
    ^bb0:
      "nest.for"() ({
      ^bb0:
        %0 = "nest.load"(%a) {at = #weft.dims<@i, @j>} : (memref<?x?xf32, #weft.dims<n, m>>) -> tensor<f32>
        %1 = "nest.load"(%b) {at = #weft.dims<@j, @i>} : (memref<?x?xf32, #weft.dims<m, n>>) -> tensor<f32>
        %2 = "weft.add"(%0, %1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "nest.store"(%2, %o) {at = #weft.dims<@i, @j>} : (tensor<f32>, memref<?x?xf32, #weft.dims<n, m>>) -> ()
        "nest.yield"() : () -> ()
      }) {var = "j", range = #weft.dims<0, m>, kind = "vector", width = 16 : i64, times = 4 : i64, shared, grain = 64 : i64, most = 128 : i64} : () -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "serial", shared} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
