// RUN: fuse,lower-reductions,schedule,choose-forms{sizes=n=40},to-nest
// Columns that are shared between threads in chunks have no nest.
"weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>):
  %0 = "weft.sum"(%x) {axes = array<i64: 0>} : (tensor<?xf32, #weft.dims<n>>) -> tensor<f32>
  "weft.return"(%0) : (tensor<f32>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?xf32, #weft.dims<n>>):
      %1 = "weft.sum"(%x_1) {axes = array<i64: 0>, order = ["0"], lanes = 64 : i64, steps = 16 : i64} : (tensor<?xf32, #weft.dims<n>>) -> tensor<f32>
      "weft.yield"(%1) : (tensor<f32>) -> ()
    }) {space = #weft.dims<n>, reduced = array<i64: 0>, rows = array<i64>, columns = ["0"], vector = 0 : i64, layouts = ["C", "C"], width = 8 : i64, unroll = 4 : i64, cost = 392 : i64, chunk = 32 : i64, form = "chunks", peel = 0 : i64} : (tensor<?xf32, #weft.dims<n>>) -> tensor<f32>
    "weft.return"(%0) : (tensor<f32>) -> ()
  }) : () -> ()
}) : () -> ()
