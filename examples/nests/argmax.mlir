"builtin.module"() ({
  "nest.kernel"() <{sym_name = "argmax", access = ["read", "write"], layouts = ["C", "C"]}> ({
  ^bb0(%x : memref<?x?xf32, #weft.dims<n, m>>, %o : memref<?xi64, #weft.dims<n>>):
    "nest.for"() ({
    ^bb0:
      %0 = "nest.walk"() ({
      ^bb0:
        %1 = "nest.load"(%x) {at = #weft.dims<@i, @j>} : (memref<?x?xf32, #weft.dims<n, m>>) -> tensor<f32>
        "nest.yield"(%1) : (tensor<f32>) -> ()
      }) {vars = ["j"], range = #weft.dims<0, m>, kind = "vector", width = 16 : i64, combine = ["argmax"], steps = array<i64: 0>} : () -> tensor<i64>
      "nest.store"(%0, %o) {at = #weft.dims<@i>} : (tensor<i64>, memref<?xi64, #weft.dims<n>>) -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "serial", shared} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
