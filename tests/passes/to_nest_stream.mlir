// RUN: fuse,lower-reductions,schedule,choose-forms{sizes=n=4096,m=4096},to-nest
// A large result is written by non-temporal stores.
"weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.neg"(%x) : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n, m>>):
      %1 = "weft.neg"(%x_1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      "weft.yield"(%1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
    }, {
      "nest.kernel"() <{access = ["read", "write"], layouts = ["C", "C"]}> ({
      ^bb0(%x_2 : memref<?x?xf32, #weft.dims<n, m>>, %out0 : memref<?x?xf32, #weft.dims<n, m>>):
        %2 = "nest.view"(%x_2) {collapse = ["0+1"]} : (memref<?x?xf32, #weft.dims<n, m>>) -> memref<?xf32, #weft.dims<m*n>>
        %3 = "nest.view"(%out0) {collapse = ["0+1"]} : (memref<?x?xf32, #weft.dims<n, m>>) -> memref<?xf32, #weft.dims<m*n>>
        "nest.for"() ({
        ^bb0:
          %4 = "nest.load"(%2) {at = #weft.dims<@i>} : (memref<?xf32, #weft.dims<m*n>>) -> tensor<f32>
          %5 = "weft.neg"(%4) : (tensor<f32>) -> tensor<f32>
          "nest.store"(%5, %3) {at = #weft.dims<@i>, stream} : (tensor<f32>, memref<?xf32, #weft.dims<m*n>>) -> ()
          "nest.yield"() : () -> ()
        }) {var = "i", range = #weft.dims<0, m*n>, kind = "vector", width = 8 : i64, times = 4 : i64, line = 1 : i64, shared, grain = 32 : i64} : () -> ()
        "nest.yield"() : () -> ()
      }) : () -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64>, rows = ["0+1"], columns = array<i64>, vector = 1 : i64, layouts = ["C", "C"], width = 8 : i64, unroll = 4 : i64, cost = 84 : i64, form = "rows", peel = 1 : i64, stream, guards = ["max(12*m*n, 16777216) == 12*m*n"]} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
  }) : () -> ()
}) : () -> ()
