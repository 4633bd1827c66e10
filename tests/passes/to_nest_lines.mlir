// RUN: fuse,lower-reductions,schedule,choose-forms{sizes=n=40,m=50},to-nest
// The reduced axis is outside of the vectors: a serial walk in lanes, which prefetches lines.
"weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.argmax"(%x) {axes = array<i64: 0>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xi64, #weft.dims<m>>
  "weft.return"(%0) : (tensor<?xi64, #weft.dims<m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n, m>>):
      %1 = "weft.argmax"(%x_1) {axes = array<i64: 0>, order = ["0"], lanes = 1 : i64, steps = 0 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xi64, #weft.dims<m>>
      "weft.yield"(%1) : (tensor<?xi64, #weft.dims<m>>) -> ()
    }, {
      "nest.kernel"() <{access = ["read", "write"], layouts = ["C", "C"]}> ({
      ^bb0(%x_2 : memref<?x?xf32, #weft.dims<n, m>>, %out0 : memref<?xi64, #weft.dims<m>>):
        "nest.for"() ({
        ^bb0:
          %2 = "nest.walk"() ({
          ^bb0:
            %3 = "nest.load"(%x_2) {at = #weft.dims<@j, @i>} : (memref<?x?xf32, #weft.dims<n, m>>) -> tensor<f32>
            "nest.fetch"(%x_2) {at = #weft.dims<@j + 8, @i>, level = 1 : i64} : (memref<?x?xf32, #weft.dims<n, m>>) -> ()
            "nest.yield"(%3) : (tensor<f32>) -> ()
          }) {vars = ["j"], range = #weft.dims<0, n>, kind = "serial", combine = ["argmax"], steps = array<i64: 0>} : () -> tensor<i64>
          "nest.store"(%2, %out0) {at = #weft.dims<@i>} : (tensor<i64>, memref<?xi64, #weft.dims<m>>) -> ()
          "nest.yield"() : () -> ()
        }) {var = "i", range = #weft.dims<0, m>, kind = "vector", width = 4 : i64, times = 4 : i64, shared, grain = 16 : i64} : () -> ()
        "nest.yield"() : () -> ()
      }) : () -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64: 0>, rows = ["1"], columns = ["0"], vector = 1 : i64, layouts = ["C", "C"], width = 4 : i64, unroll = 4 : i64, cost = 392 : i64, chunk = 8 : i64, form = "rows", prefetch = array<i64: 8, 1>, guards = ["min(128, n) == n", "min(4095, 8*m) == 8*m"]} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xi64, #weft.dims<m>>
    "weft.return"(%0) : (tensor<?xi64, #weft.dims<m>>) -> ()
  }) : () -> ()
}) : () -> ()
