// RUN: fuse,lower-reductions,schedule,choose-forms{sizes=n=40,m=50},to-nest
// Neighbouring rows share what they load.
"weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n + 1, m + 1>>):
  %0 = "weft.slice"(%x) {starts = #weft.dims<1, 0>, steps = array<i64: 1, 1>, sizes = #weft.dims<n, m>} : (tensor<?x?xf32, #weft.dims<n + 1, m + 1>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  %1 = "weft.slice"(%x) {starts = #weft.dims<0, 0>, steps = array<i64: 1, 1>, sizes = #weft.dims<n, m>} : (tensor<?x?xf32, #weft.dims<n + 1, m + 1>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  %2 = "weft.sub"(%0, %1) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  "weft.return"(%2) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n + 1, m + 1>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n + 1, m + 1>>):
      %1 = "weft.slice"(%x_1) {starts = #weft.dims<1, 0>, steps = array<i64: 1, 1>, sizes = #weft.dims<n, m>} : (tensor<?x?xf32, #weft.dims<n + 1, m + 1>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      %2 = "weft.slice"(%x_1) {starts = #weft.dims<0, 0>, steps = array<i64: 1, 1>, sizes = #weft.dims<n, m>} : (tensor<?x?xf32, #weft.dims<n + 1, m + 1>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      %3 = "weft.sub"(%1, %2) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      "weft.yield"(%3) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
    }, {
      "nest.kernel"() <{access = ["read", "write"], layouts = ["C", "C"]}> ({
      ^bb0(%x_2 : memref<?x?xf32, #weft.dims<n + 1, m + 1>>, %out0 : memref<?x?xf32, #weft.dims<n, m>>):
        "nest.for"() ({
        ^bb0:
          "nest.for"() ({
          ^bb0:
            %4 = "nest.load"(%x_2) {at = #weft.dims<@i + 1, @j>} : (memref<?x?xf32, #weft.dims<n + 1, m + 1>>) -> tensor<f32>
            %5 = "nest.load"(%x_2) {at = #weft.dims<@i, @j>} : (memref<?x?xf32, #weft.dims<n + 1, m + 1>>) -> tensor<f32>
            %6 = "weft.sub"(%4, %5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "nest.store"(%6, %out0) {at = #weft.dims<@i, @j>} : (tensor<f32>, memref<?x?xf32, #weft.dims<n, m>>) -> ()
            "nest.yield"() : () -> ()
          }) {var = "j", range = #weft.dims<0, m>, kind = "vector", width = 8 : i64, times = 4 : i64, line = 1 : i64, shared, grain = 32 : i64} : () -> ()
          "nest.yield"() : () -> ()
        }) {var = "i", range = #weft.dims<0, n>, kind = "jammed", times = 2 : i64, shared, grain = 16 : i64} : () -> ()
        "nest.yield"() : () -> ()
      }) : () -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64>, rows = ["0", "1"], columns = array<i64>, vector = 1 : i64, layouts = ["C", "C"], width = 8 : i64, unroll = 4 : i64, cost = 84 : i64, jam = array<i64: 0, 2>, piece = array<i64: 16>, form = "rows", peel = 1 : i64, guards = ["min(16777215, 8*m + 12*m*n + 8*n + 8) == 8*m + 12*m*n + 8*n + 8"]} : (tensor<?x?xf32, #weft.dims<n + 1, m + 1>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
  }) : () -> ()
}) : () -> ()
