// RUN: fuse,lower-reductions,schedule,choose-forms{sizes=n=400,m=3},to-nest
// A short window is unrolled, and its sum is one chain of FMAs.
"weft.kernel"() <{sym_name = "f", layouts = ["C", "C"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>, %w : tensor<?xf32, #weft.dims<m>>):
  %0 = "weft.access"(%x) {shape = #weft.dims<n - m + 1, m>, starts = #weft.dims<0>, steps = #weft.dims<1, 1>} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?x?xf32, #weft.dims<n - m + 1, m>>
  %1 = "weft.mul"(%0, %w) : (tensor<?x?xf32, #weft.dims<n - m + 1, m>>, tensor<?xf32, #weft.dims<m>>) -> tensor<?x?xf32, #weft.dims<n - m + 1, m>>
  %2 = "weft.sum"(%1) {axes = array<i64: 1>} : (tensor<?x?xf32, #weft.dims<n - m + 1, m>>) -> tensor<?xf32, #weft.dims<n - m + 1>>
  "weft.return"(%2) : (tensor<?xf32, #weft.dims<n - m + 1>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C", "C"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>, %w : tensor<?xf32, #weft.dims<m>>):
    %0 = "weft.region"(%x, %w) ({
    ^bb0(%x_1 : tensor<?xf32, #weft.dims<n>>, %w_1 : tensor<?xf32, #weft.dims<m>>):
      %1 = "weft.access"(%x_1) {shape = #weft.dims<-m + n + 1, m>, starts = #weft.dims<0>, steps = #weft.dims<1, 1>} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?x?xf32, #weft.dims<-m + n + 1, m>>
      %2 = "weft.mul"(%1, %w_1) : (tensor<?x?xf32, #weft.dims<-m + n + 1, m>>, tensor<?xf32, #weft.dims<m>>) -> tensor<?x?xf32, #weft.dims<-m + n + 1, m>>
      %3 = "weft.sum"(%2) {axes = array<i64: 1>, order = ["1"], lanes = 1 : i64, steps = 0 : i64, chained} : (tensor<?x?xf32, #weft.dims<-m + n + 1, m>>) -> tensor<?xf32, #weft.dims<-m + n + 1>>
      "weft.yield"(%3) : (tensor<?xf32, #weft.dims<-m + n + 1>>) -> ()
    }, {
      "nest.kernel"() <{access = ["read", "read", "write"], layouts = ["C", "C", "C"]}> ({
      ^bb0(%x_2 : memref<?xf32, #weft.dims<n>>, %w_2 : memref<?xf32, #weft.dims<m>>, %out0 : memref<?xf32, #weft.dims<-m + n + 1>>):
        "nest.for"() ({
        ^bb0:
          %4 = "nest.walk"() ({
          ^bb0:
            %5 = "nest.load"(%x_2) {at = #weft.dims<@i + @j>} : (memref<?xf32, #weft.dims<n>>) -> tensor<f32>
            %6 = "nest.load"(%w_2) {at = #weft.dims<@j>} : (memref<?xf32, #weft.dims<m>>) -> tensor<f32>
            %7 = "weft.mul"(%5, %6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "nest.yield"(%7) : (tensor<f32>) -> ()
          }) {vars = ["j"], range = #weft.dims<0, m>, kind = "serial", combine = ["sum"], steps = array<i64: 0>, taps = array<i64: 3>, chained = array<i64: 1>} : () -> tensor<f32>
          "nest.store"(%4, %out0) {at = #weft.dims<@i>} : (tensor<f32>, memref<?xf32, #weft.dims<-m + n + 1>>) -> ()
          "nest.yield"() : () -> ()
        }) {var = "i", range = #weft.dims<0, -m + n + 1>, kind = "vector", width = 8 : i64, times = 4 : i64, shared, grain = 32 : i64} : () -> ()
        "nest.yield"() : () -> ()
      }) : () -> ()
    }) {space = #weft.dims<-m + n + 1, m>, reduced = array<i64: 1>, rows = ["0"], columns = ["1"], vector = 0 : i64, windows = array<i64: 1>, layouts = ["C", "C", "C"], width = 8 : i64, unroll = 4 : i64, cost = 20 : i64, piece = array<i64: 16>, form = "windows", taps = array<i64: 3>, guards = ["3 == m"]} : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<m>>) -> tensor<?xf32, #weft.dims<-m + n + 1>>
    "weft.return"(%0) : (tensor<?xf32, #weft.dims<-m + n + 1>>) -> ()
  }) : () -> ()
}) : () -> ()
