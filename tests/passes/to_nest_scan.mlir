// RUN: fuse,lower-reductions,schedule,choose-forms{sizes=n=40,m=50},to-nest
// A running sum is along a loop, in which Ctrl-C is noticed.
"weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.scan"(%x) {combine = "add", axis = 1 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n, m>>):
      %1 = "weft.scan"(%x_1) {combine = "add", axis = 1 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      "weft.yield"(%1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
    }, {
      "nest.kernel"() <{access = ["read", "write"], layouts = ["C", "C"]}> ({
      ^bb0(%x_2 : memref<?x?xf32, #weft.dims<n, m>>, %out0 : memref<?x?xf32, #weft.dims<n, m>>):
        "nest.for"() ({
        ^bb0:
          "nest.for"() ({
          ^bb0:
            %2 = "nest.load"(%x_2) {at = #weft.dims<@i, @j>} : (memref<?x?xf32, #weft.dims<n, m>>) -> tensor<f32>
            %3 = "nest.scan"(%2) {var = "j", combine = "sum"} : (tensor<f32>) -> tensor<f32>
            "nest.store"(%3, %out0) {at = #weft.dims<@i, @j>} : (tensor<f32>, memref<?x?xf32, #weft.dims<n, m>>) -> ()
            "nest.ask"() : () -> ()
            "nest.yield"() : () -> ()
          }) {var = "j", range = #weft.dims<0, m>, kind = "vector", width = 8 : i64, times = 1 : i64} : () -> ()
          "nest.yield"() : () -> ()
        }) {var = "i", range = #weft.dims<0, n>, kind = "jammed", times = 4 : i64, shared, grain = 4 : i64} : () -> ()
        "nest.yield"() : () -> ()
      }) : () -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64>, scanned = array<i64: 1>, rows = ["0"], columns = ["1"], vector = 1 : i64, layouts = ["C", "C"], width = 8 : i64, unroll = 1 : i64, cost = 764 : i64, form = "rows", jam = array<i64: 0, 4>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
  }) : () -> ()
}) : () -> ()
