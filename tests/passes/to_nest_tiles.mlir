// RUN: fuse,lower-reductions,schedule,choose-forms{sizes=n=400,m=500},to-nest
// Operands in different orders: pieces go at most 128 elements along the vectors.
"weft.kernel"() <{sym_name = "f", layouts = ["C", "F"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>, %y : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.add"(%x, %y) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C", "F"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>, %y : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.region"(%x, %y) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n, m>>, %y_1 : tensor<?x?xf32, #weft.dims<n, m>>):
      %1 = "weft.add"(%x_1, %y_1) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      "weft.yield"(%1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
    }, {
      "nest.kernel"() <{access = ["read", "read", "write"], layouts = ["C", "F", "C"]}> ({
      ^bb0(%x_2 : memref<?x?xf32, #weft.dims<n, m>>, %y_2 : memref<?x?xf32, #weft.dims<n, m>>, %out0 : memref<?x?xf32, #weft.dims<n, m>>):
        "nest.for"() ({
        ^bb0:
          "nest.for"() ({
          ^bb0:
            %2 = "nest.load"(%x_2) {at = #weft.dims<@i, @j>} : (memref<?x?xf32, #weft.dims<n, m>>) -> tensor<f32>
            %3 = "nest.load"(%y_2) {at = #weft.dims<@i, @j>} : (memref<?x?xf32, #weft.dims<n, m>>) -> tensor<f32>
            %4 = "weft.add"(%2, %3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "nest.store"(%4, %out0) {at = #weft.dims<@i, @j>} : (tensor<f32>, memref<?x?xf32, #weft.dims<n, m>>) -> ()
            "nest.yield"() : () -> ()
          }) {var = "j", range = #weft.dims<0, m>, kind = "vector", width = 8 : i64, times = 4 : i64, line = 2 : i64, shared, grain = 32 : i64, most = 128 : i64} : () -> ()
          "nest.yield"() : () -> ()
        }) {var = "i", range = #weft.dims<0, n>, kind = "serial", shared} : () -> ()
        "nest.yield"() : () -> ()
      }) : () -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64>, rows = ["0", "1"], columns = array<i64>, vector = 1 : i64, layouts = ["C", "F", "C"], width = 8 : i64, unroll = 4 : i64, cost = 116 : i64, tile = 128 : i64, form = "rows", peel = 2 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
  }) : () -> ()
}) : () -> ()
