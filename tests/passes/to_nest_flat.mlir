// RUN: fuse,lower-reductions,schedule,choose-forms{sizes=n=4000,m=3},to-nest
// Vectors run through several short rows as if they were one.
"weft.kernel"() <{sym_name = "f", layouts = ["C", "C"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>, %v : tensor<?xf32, #weft.dims<m>>):
  %0 = "weft.add"(%x, %v) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?xf32, #weft.dims<m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C", "C"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>, %v : tensor<?xf32, #weft.dims<m>>):
    %0 = "weft.region"(%x, %v) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n, m>>, %v_1 : tensor<?xf32, #weft.dims<m>>):
      %1 = "weft.add"(%x_1, %v_1) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?xf32, #weft.dims<m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
      "weft.yield"(%1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
    }, {
      "nest.kernel"() <{access = ["read", "read", "write"], layouts = ["C", "C", "C"]}> ({
      ^bb0(%x_2 : memref<?x?xf32, #weft.dims<n, m>>, %v_2 : memref<?xf32, #weft.dims<m>>, %out0 : memref<?x?xf32, #weft.dims<n, m>>):
        "nest.for"() ({
        ^bb0:
          "nest.for"() ({
          ^bb0:
            %2 = "nest.load"(%x_2) {at = #weft.dims<@i, @j>} : (memref<?x?xf32, #weft.dims<n, m>>) -> tensor<f32>
            %3 = "nest.load"(%v_2) {at = #weft.dims<@j>} : (memref<?xf32, #weft.dims<m>>) -> tensor<f32>
            %4 = "weft.add"(%2, %3) : (tensor<f32>, tensor<f32>) -> tensor<f32>
            "nest.store"(%4, %out0) {at = #weft.dims<@i, @j>} : (tensor<f32>, memref<?x?xf32, #weft.dims<n, m>>) -> ()
            "nest.yield"() : () -> ()
          }) {var = "j", range = #weft.dims<0, m>, kind = "vector", width = 8 : i64, times = 1 : i64} : () -> ()
          "nest.yield"() : () -> ()
        }) {var = "i", range = #weft.dims<0, n>, kind = "serial", flat, shared} : () -> ()
        "nest.yield"() : () -> ()
      }) : () -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64>, rows = ["0", "1"], columns = array<i64>, vector = 1 : i64, layouts = ["C", "C", "C"], width = 8 : i64, unroll = 1 : i64, cost = 84 : i64, form = "flat", guards = ["min(4, m) == m"]} : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?xf32, #weft.dims<m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    "weft.return"(%0) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
  }) : () -> ()
}) : () -> ()
