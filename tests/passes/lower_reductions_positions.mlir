// RUN: fuse,lower-reductions
// Positions count in C order, so axes that memory has in another order are not walked as one.
"weft.kernel"() <{sym_name = "f", layouts = ["F"], out_layouts = ["C"]}> ({
^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.argmax"(%x) {axes = array<i64: 0, 1>} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<i64>
  "weft.return"(%0) : (tensor<i64>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["F"], out_layouts = ["C"]}> ({
  ^bb0(%x : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.region"(%x) ({
    ^bb0(%x_1 : tensor<?x?xf32, #weft.dims<n, m>>):
      %1 = "weft.argmax"(%x_1) {axes = array<i64: 0, 1>, order = ["1", "0"], lanes = 64 : i64, steps = 0 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<i64>
      "weft.yield"(%1) : (tensor<i64>) -> ()
    }) {space = #weft.dims<n, m>, reduced = array<i64: 0, 1>, rows = array<i64>, columns = ["1", "0"], vector = 0 : i64} : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<i64>
    "weft.return"(%0) : (tensor<i64>) -> ()
  }) : () -> ()
}) : () -> ()
