// RUN: fuse,lower-reductions,schedule,choose-forms{sizes=m=40,n=50,k=30},to-nest
// The stages over the rows of a product are a nest that reads the product from memory.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%a : tensor<?x?xf32, #weft.dims<m, k>>, %b : tensor<?x?xf32, #weft.dims<k, n>>):
  %0 = "weft.matmul"(%a, %b) : (tensor<?x?xf32, #weft.dims<m, k>>, tensor<?x?xf32, #weft.dims<k, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
  %1 = "weft.max"(%0) {axes = array<i64: 1>, keepdims} : (tensor<?x?xf32, #weft.dims<m, n>>) -> tensor<?x1xf32, #weft.dims<m, 1>>
  %2 = "weft.sub"(%0, %1) : (tensor<?x?xf32, #weft.dims<m, n>>, tensor<?x1xf32, #weft.dims<m, 1>>) -> tensor<?x?xf32, #weft.dims<m, n>>
  "weft.return"(%2) : (tensor<?x?xf32, #weft.dims<m, n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%a : tensor<?x?xf32, #weft.dims<m, k>>, %b : tensor<?x?xf32, #weft.dims<k, n>>):
    %0 = "weft.region"(%a, %b) ({
    ^bb0(%a_1 : tensor<?x?xf32, #weft.dims<m, k>>, %b_1 : tensor<?x?xf32, #weft.dims<k, n>>):
      %1 = "weft.matmul"(%a_1, %b_1) : (tensor<?x?xf32, #weft.dims<m, k>>, tensor<?x?xf32, #weft.dims<k, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
      %2 = "weft.max"(%1) {axes = array<i64: 1>, keepdims, order = ["1"], lanes = 64 : i64, steps = 0 : i64} : (tensor<?x?xf32, #weft.dims<m, n>>) -> tensor<?x1xf32, #weft.dims<m, 1>>
      %3 = "weft.sub"(%1, %2) : (tensor<?x?xf32, #weft.dims<m, n>>, tensor<?x1xf32, #weft.dims<m, 1>>) -> tensor<?x?xf32, #weft.dims<m, n>>
      "weft.yield"(%3) : (tensor<?x?xf32, #weft.dims<m, n>>) -> ()
    }, {
      "nest.kernel"() <{access = ["read", "read", "read", "write"], layouts = ["C", "C", "C", "C"]}> ({
      ^bb0(%a_2 : memref<?x?xf32, #weft.dims<m, k>>, %b_2 : memref<?x?xf32, #weft.dims<k, n>>, %product : memref<?x?xf32, #weft.dims<m, n>>, %out0 : memref<?x?xf32, #weft.dims<m, n>>):
        "nest.for"() ({
        ^bb0:
          %4 = "nest.walk"() ({
          ^bb0:
            %5 = "nest.load"(%product) {at = #weft.dims<@i, @j>} : (memref<?x?xf32, #weft.dims<m, n>>) -> tensor<f32>
            "nest.yield"(%5) : (tensor<f32>) -> ()
          }) {vars = ["j"], range = #weft.dims<0, n>, kind = "vector", combine = ["max"], steps = array<i64: 0>, width = 8 : i64} : () -> vector<64xf32>
          %6 = "nest.across"(%4) {combine = "max"} : (vector<64xf32>) -> tensor<f32>
          "nest.for"() ({
          ^bb0:
            %7 = "nest.load"(%product) {at = #weft.dims<@i, @j>} : (memref<?x?xf32, #weft.dims<m, n>>) -> tensor<f32>
            %8 = "weft.sub"(%7, %6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "nest.store"(%8, %out0) {at = #weft.dims<@i, @j>} : (tensor<f32>, memref<?x?xf32, #weft.dims<m, n>>) -> ()
            "nest.yield"() : () -> ()
          }) {var = "j", range = #weft.dims<0, n>, kind = "vector", width = 8 : i64, times = 4 : i64} : () -> ()
          "nest.yield"() : () -> ()
        }) {var = "i", range = #weft.dims<0, m>, kind = "serial", shared} : () -> ()
        "nest.yield"() : () -> ()
      }) : () -> ()
    }) {space = #weft.dims<m, n>, reduced = array<i64: 1>, rows = ["0"], columns = ["1"], vector = 1 : i64, layouts = ["C", "C", "C"], width = 8 : i64, unroll = 4 : i64, cost = 4316 : i64, row_cost = 476 : i64, registers = array<i64: 6, 2>, blocks = array<i64: 240, 512, 384>, turned = array<i64>, row_width = 8 : i64, form = "small product", guards = ["max(17, n) == n", "min(2097151, k*max(16384, m*n)) == k*max(16384, m*n)"]} : (tensor<?x?xf32, #weft.dims<m, k>>, tensor<?x?xf32, #weft.dims<k, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<m, n>>) -> ()
  }) : () -> ()
}) : () -> ()
