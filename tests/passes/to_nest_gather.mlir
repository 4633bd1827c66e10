// RUN: fuse,lower-reductions,schedule,choose-forms{sizes=n=40,m=50,k=9},to-nest
// An index from data is counted from the front, checked and named.
"weft.kernel"() <{sym_name = "f", layouts = ["C", "C"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>, %at : tensor<?xi64, #weft.dims<k>>):
  %0 = "weft.gather"(%x, %at) {axes = array<i64: 0>} : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?xi64, #weft.dims<k>>) -> tensor<?x?xf32, #weft.dims<k, m>>
  "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<k, m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C", "C"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>, %at : tensor<?xi64, #weft.dims<k>>):
    %0 = "weft.region"(%x, %at) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n, m>>, %at_1 : tensor<?xi64, #weft.dims<k>>):
      %1 = "weft.gather"(%x_1, %at_1) {axes = array<i64: 0>} : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?xi64, #weft.dims<k>>) -> tensor<?x?xf32, #weft.dims<k, m>>
      "weft.yield"(%1) : (tensor<?x?xf32, #weft.dims<k, m>>) -> ()
    }, {
      "nest.kernel"() <{access = ["read", "read", "write"], layouts = ["C", "C", "C"]}> ({
      ^bb0(%x_2 : memref<?x?xf32, #weft.dims<n, m>>, %at_2 : memref<?xi64, #weft.dims<k>>, %out0 : memref<?x?xf32, #weft.dims<k, m>>):
        "nest.for"() ({
        ^bb0:
          "nest.for"() ({
          ^bb0:
            %2 = "nest.load"(%at_2) {at = #weft.dims<@i>} : (memref<?xi64, #weft.dims<k>>) -> tensor<i64>
            %3 = "weft.constant"() {value = 0 : i64, dtype = i64} : () -> tensor<i64>
            %4 = "weft.size"() {size = #weft.dims<n>} : () -> tensor<i64>
            %5 = "weft.lt"(%2, %3) : (tensor<i64>, tensor<i64>) -> tensor<i1>
            %6 = "weft.add"(%2, %4) : (tensor<i64>, tensor<i64>) -> tensor<i64>
            %7 = "weft.where"(%5, %6, %2) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
            "nest.bind"(%7) {var = "at", range = #weft.dims<0, n>} : (tensor<i64>) -> ()
            %8 = "nest.load"(%x_2) {at = #weft.dims<@at, @j>} : (memref<?x?xf32, #weft.dims<n, m>>) -> tensor<f32>
            "nest.store"(%8, %out0) {at = #weft.dims<@i, @j>} : (tensor<f32>, memref<?x?xf32, #weft.dims<k, m>>) -> ()
            "nest.yield"() : () -> ()
          }) {var = "j", range = #weft.dims<0, m>, kind = "vector", width = 8 : i64, times = 4 : i64, line = 2 : i64, shared, grain = 32 : i64} : () -> ()
          "nest.yield"() : () -> ()
        }) {var = "i", range = #weft.dims<0, k>, kind = "serial", shared} : () -> ()
        "nest.yield"() : () -> ()
      }) : () -> ()
    }) {space = #weft.dims<k, m>, reduced = array<i64>, rows = ["0", "1"], columns = array<i64>, vector = 1 : i64, layouts = ["C", "C", "C"], width = 8 : i64, unroll = 4 : i64, cost = 564 : i64, form = "rows", peel = 2 : i64, guards = ["min(16*k + 4*k*m + 8*m*n, 16777215) == 16*k + 4*k*m + 8*m*n"]} : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?xi64, #weft.dims<k>>) -> tensor<?x?xf32, #weft.dims<k, m>>
    "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<k, m>>) -> ()
  }) : () -> ()
}) : () -> ()
