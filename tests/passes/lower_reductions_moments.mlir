// RUN: fuse,lower-reductions
// Sums of differences from the mean, and of their squares, share its walk at any length where there are no rows.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf64, #weft.dims<n>>, %k : tensor<f64>):
  %0 = "weft.sum"(%x) {axes = array<i64: 0>} : (tensor<?xf64, #weft.dims<n>>) -> tensor<f64>
  %1 = "weft.div"(%0, %k) : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %2 = "weft.sub"(%x, %1) : (tensor<?xf64, #weft.dims<n>>, tensor<f64>) -> tensor<?xf64, #weft.dims<n>>
  %3 = "weft.square"(%2) : (tensor<?xf64, #weft.dims<n>>) -> tensor<?xf64, #weft.dims<n>>
  %4 = "weft.sum"(%3) {axes = array<i64: 0>} : (tensor<?xf64, #weft.dims<n>>) -> tensor<f64>
  "weft.return"(%4) : (tensor<f64>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf64, #weft.dims<n>>, %k : tensor<f64>):
    %0 = "weft.region"(%x, %k) ({
    ^bb0(%x_1 : tensor<?xf64, #weft.dims<n>>, %k_1 : tensor<f64>):
      %1 = "weft.sum"(%x_1) {axes = array<i64: 0>, order = ["0"], lanes = 32 : i64, steps = 16 : i64, composite = "total", chunk = 32 : i64, cut_from = 0 : i64} : (tensor<?xf64, #weft.dims<n>>) -> tensor<f64>
      %2 = "weft.div"(%1, %k_1) : (tensor<f64>, tensor<f64>) -> tensor<f64>
      %3 = "weft.sub"(%x_1, %2) : (tensor<?xf64, #weft.dims<n>>, tensor<f64>) -> tensor<?xf64, #weft.dims<n>>
      %4 = "weft.square"(%3) : (tensor<?xf64, #weft.dims<n>>) -> tensor<?xf64, #weft.dims<n>>
      %5 = "weft.sum"(%4) {axes = array<i64: 0>, order = ["0"], lanes = 32 : i64, steps = 16 : i64, composite = "moment2", chunk = 32 : i64, cut_from = 0 : i64} : (tensor<?xf64, #weft.dims<n>>) -> tensor<f64>
      "weft.yield"(%5) : (tensor<f64>) -> ()
    }) {space = #weft.dims<n>, reduced = array<i64: 0>, rows = array<i64>, columns = ["0"], vector = 0 : i64} : (tensor<?xf64, #weft.dims<n>>, tensor<f64>) -> tensor<f64>
    "weft.return"(%0) : (tensor<f64>) -> ()
  }) : () -> ()
}) : () -> ()
