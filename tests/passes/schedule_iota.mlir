// RUN: fuse,schedule
// Axes whose index is used as a number run by themselves; a count over both runs through them as one.
"weft.kernel"() <{sym_name = "f", layouts = [], out_layouts = ["C", "C"]}> ({
^bb0:
  %0 = "weft.iota"() {shape = #weft.dims<8, 6>, axis = 1 : i64} : () -> tensor<8x6xi64>
  %1 = "weft.iota"() {shape = #weft.dims<48>, axis = 0 : i64} : () -> tensor<48xi64>
  %2 = "weft.reshape"(%1) {shape = #weft.dims<8, 6>} : (tensor<48xi64>) -> tensor<8x6xi64>
  "weft.return"(%0, %2) : (tensor<8x6xi64>, tensor<8x6xi64>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = array<i64>, out_layouts = ["C", "C"]}> ({
  ^bb0:
    %0 = "weft.region"() ({
    ^bb0:
      %1 = "weft.iota"() {shape = #weft.dims<8, 6>, axis = 1 : i64} : () -> tensor<8x6xi64>
      "weft.yield"(%1) : (tensor<8x6xi64>) -> ()
    }) {space = #weft.dims<8, 6>, reduced = array<i64>, rows = ["0", "1"], columns = array<i64>, vector = 1 : i64, layouts = ["C"], width = 4 : i64, unroll = 4 : i64, cost = 104 : i64} : () -> tensor<8x6xi64>
    %2 = "weft.region"() ({
    ^bb0:
      %3 = "weft.iota"() {shape = #weft.dims<48>, axis = 0 : i64} : () -> tensor<48xi64>
      %4 = "weft.reshape"(%3) {shape = #weft.dims<8, 6>} : (tensor<48xi64>) -> tensor<8x6xi64>
      "weft.yield"(%4) : (tensor<8x6xi64>) -> ()
    }) {space = #weft.dims<8, 6>, reduced = array<i64>, rows = ["0+1"], columns = array<i64>, vector = 1 : i64, layouts = ["C"], width = 4 : i64, unroll = 4 : i64, cost = 64 : i64} : () -> tensor<8x6xi64>
    "weft.return"(%0, %2) : (tensor<8x6xi64>, tensor<8x6xi64>) -> ()
  }) : () -> ()
}) : () -> ()
