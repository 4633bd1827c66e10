// RUN: fuse,lower-reductions,schedule,choose-forms{sizes=n=40,m=50},to-nest
// Both axes are one vector loop, over views that collapse them.
"weft.kernel"() <{sym_name = "f", layouts = ["C", "scalar"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>, %k : tensor<f32>):
  %0 = "weft.mul"(%x, %k) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<f32>) -> tensor<?x?xf32, #weft.dims<n, m>>
  "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C", "scalar"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>, %k : tensor<f32>):
    %0 = "weft.region"(%x, %k) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n, m>>, %k_1 : tensor<f32>):
      %1 = "weft.mul"(%x_1, %k_1) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<f32>) -> tensor<?x?xf32, #weft.dims<n, m>>
      "weft.yield"(%1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
    }, {
      "nest.kernel"() <{access = ["read", "read", "write"], layouts = ["C", "scalar", "C"]}> ({
      ^bb0(%x_2 : memref<?x?xf32, #weft.dims<n, m>>, %k_2 : memref<f32>, %out0 : memref<?x?xf32, #weft.dims<n, m>>):
        %2 = "nest.view"(%x_2) {collapse = ["0+1"]} : (memref<?x?xf32, #weft.dims<n, m>>) -> memref<?xf32, #weft.dims<m*n>>
        %3 = "nest.view"(%out0) {collapse = ["0+1"]} : (memref<?x?xf32, #weft.dims<n, m>>) -> memref<?xf32, #weft.dims<m*n>>
        "nest.for"() ({
        ^bb0:
          %4 = "nest.load"(%2) {at = #weft.dims<@i>} : (memref<?xf32, #weft.dims<m*n>>) -> tensor<f32>
          %5 = "nest.load"(%k_2) {at = #weft.dims<>} : (memref<f32>) -> tensor<f32>
          %6 = "weft.mul"(%4, %5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
          "nest.store"(%6, %3) {at = #weft.dims<@i>} : (tensor<f32>, memref<?xf32, #weft.dims<m*n>>) -> ()
          "nest.yield"() : () -> ()
        }) {var = "i", range = #weft.dims<0, m*n>, kind = "vector", width = 8 : i64, times = 4 : i64, line = 2 : i64, shared, grain = 32 : i64} : () -> ()
        "nest.yield"() : () -> ()
      }) : () -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64>, rows = ["0+1"], columns = array<i64>, vector = 1 : i64, layouts = ["C", "scalar", "C"], width = 8 : i64, unroll = 4 : i64, cost = 84 : i64, form = "rows", peel = 2 : i64, guards = ["min(12*m*n + 8, 16777215) == 12*m*n + 8"]} : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<f32>) -> tensor<?x?xf32, #weft.dims<n, m>>
    "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
  }) : () -> ()
}) : () -> ()
