// RUN: fuse,lower-reductions,schedule,choose-forms{sizes=n=40,m=50},to-nest
// A sum along rows is a walk; whole vectors begin at a cache line of the operand.
"weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.sum"(%x) {axes = array<i64: 1>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xf32, #weft.dims<n>>
  "weft.return"(%0) : (tensor<?xf32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n, m>>):
      %1 = "weft.sum"(%x_1) {axes = array<i64: 1>, order = ["1"], lanes = 64 : i64, steps = 16 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xf32, #weft.dims<n>>
      "weft.yield"(%1) : (tensor<?xf32, #weft.dims<n>>) -> ()
    }, {
      "nest.kernel"() <{access = ["read", "write"], layouts = ["C", "C"]}> ({
      ^bb0(%x_2 : memref<?x?xf32, #weft.dims<n, m>>, %out0 : memref<?xf32, #weft.dims<n>>):
        "nest.for"() ({
        ^bb0:
          %2 = "nest.walk"() ({
          ^bb0:
            %3 = "nest.load"(%x_2) {at = #weft.dims<@i, @j>} : (memref<?x?xf32, #weft.dims<n, m>>) -> tensor<f32>
            "nest.yield"(%3) : (tensor<f32>) -> ()
          }) {vars = ["j"], range = #weft.dims<0, m>, kind = "vector", combine = ["sum"], steps = array<i64: 16>, width = 8 : i64, line = 0 : i64} : () -> vector<64xf32>
          %4 = "nest.across"(%2) {combine = "sum"} : (vector<64xf32>) -> tensor<f32>
          "nest.store"(%4, %out0) {at = #weft.dims<@i>} : (tensor<f32>, memref<?xf32, #weft.dims<n>>) -> ()
          "nest.yield"() : () -> ()
        }) {var = "i", range = #weft.dims<0, n>, kind = "serial", shared} : () -> ()
        "nest.yield"() : () -> ()
      }) : () -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64: 1>, rows = ["0"], columns = ["1"], vector = 1 : i64, layouts = ["C", "C"], width = 8 : i64, unroll = 4 : i64, cost = 392 : i64, chunk = 32 : i64, form = "rows", peel = 0 : i64, guards = ["min(131071, m) == m", "max(17, m) == m"]} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?xf32, #weft.dims<n>>
    "weft.return"(%0) : (tensor<?xf32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
