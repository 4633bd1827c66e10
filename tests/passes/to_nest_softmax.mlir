// RUN: fuse,lower-reductions,schedule,choose-forms{sizes=n=40,m=50},to-nest
// Three stages: exp is kept in the row of the result.
"weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.max"(%x) {axes = array<i64: 1>, keepdims} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x1xf32, #weft.dims<n, 1>>
  %1 = "weft.sub"(%x, %0) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x1xf32, #weft.dims<n, 1>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  %2 = "weft.exp"(%1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  %3 = "weft.sum"(%2) {axes = array<i64: 1>, keepdims} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x1xf32, #weft.dims<n, 1>>
  %4 = "weft.div"(%2, %3) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x1xf32, #weft.dims<n, 1>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  "weft.return"(%4) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n, m>>):
      %1 = "weft.max"(%x_1) {axes = array<i64: 1>, keepdims, order = ["1"], lanes = 64 : i64, steps = 0 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x1xf32, #weft.dims<n, 1>>
      %2 = "weft.sub"(%x_1, %1) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x1xf32, #weft.dims<n, 1>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      %3 = "weft.exp"(%2) {keep = "result 0"} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      %4 = "weft.sum"(%3) {axes = array<i64: 1>, keepdims, order = ["1"], lanes = 64 : i64, steps = 16 : i64, composite = "exp", chunk = 32 : i64, cut_from = 262144 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x1xf32, #weft.dims<n, 1>>
      %5 = "weft.div"(%3, %4) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x1xf32, #weft.dims<n, 1>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      "weft.yield"(%5) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
    }, {
      "nest.kernel"() <{access = ["read", "write"], layouts = ["C", "C"]}> ({
      ^bb0(%x_2 : memref<?x?xf32, #weft.dims<n, m>>, %out0 : memref<?x?xf32, #weft.dims<n, m>>):
        "nest.for"() ({
        ^bb0:
          %6 = "nest.walk"() ({
          ^bb0:
            %7 = "nest.load"(%x_2) {at = #weft.dims<@i, @j>} : (memref<?x?xf32, #weft.dims<n, m>>) -> tensor<f32>
            "nest.yield"(%7) : (tensor<f32>) -> ()
          }) {vars = ["j"], range = #weft.dims<0, m>, kind = "vector", combine = ["max"], steps = array<i64: 0>, width = 8 : i64} : () -> vector<64xf32>
          %8 = "nest.across"(%6) {combine = "max"} : (vector<64xf32>) -> tensor<f32>
          %9 = "nest.walk"() ({
          ^bb0:
            %10 = "nest.load"(%x_2) {at = #weft.dims<@i, @j>} : (memref<?x?xf32, #weft.dims<n, m>>) -> tensor<f32>
            %11 = "weft.sub"(%10, %8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            %12 = "weft.exp"(%11) : (tensor<f32>) -> tensor<f32>
            "nest.store"(%12, %out0) {at = #weft.dims<@i, @j>} : (tensor<f32>, memref<?x?xf32, #weft.dims<n, m>>) -> ()
            "nest.yield"(%12) : (tensor<f32>) -> ()
          }) {vars = ["j"], range = #weft.dims<0, m>, kind = "vector", combine = ["sum"], steps = array<i64: 16>, width = 8 : i64} : () -> vector<64xf32>
          %13 = "nest.across"(%9) {combine = "sum"} : (vector<64xf32>) -> tensor<f32>
          "nest.for"() ({
          ^bb0:
            %14 = "nest.load"(%out0) {at = #weft.dims<@i, @j>} : (memref<?x?xf32, #weft.dims<n, m>>) -> tensor<f32>
            %15 = "weft.div"(%14, %13) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "nest.store"(%15, %out0) {at = #weft.dims<@i, @j>} : (tensor<f32>, memref<?x?xf32, #weft.dims<n, m>>) -> ()
            "nest.yield"() : () -> ()
          }) {var = "j", range = #weft.dims<0, m>, kind = "vector", width = 8 : i64, times = 2 : i64} : () -> ()
          "nest.yield"() : () -> ()
        }) {var = "i", range = #weft.dims<0, n>, kind = "serial", shared} : () -> ()
        "nest.yield"() : () -> ()
      }) : () -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64: 1>, rows = ["0"], columns = ["1"], vector = 1 : i64, layouts = ["C", "C"], width = 8 : i64, unroll = 2 : i64, cost = 1184 : i64, chunk = 32 : i64, form = "rows", guards = ["min(262143, m) == m", "max(17, m) == m"]} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
  }) : () -> ()
}) : () -> ()
