// RUN: fuse,lower-reductions
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>, %w : tensor<?xf32, #weft.dims<m>>):
  %0 = "weft.access"(%x) {shape = #weft.dims<n - m + 1, m>, starts = #weft.dims<0>, steps = #weft.dims<1, 1>} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?x?xf32, #weft.dims<n - m + 1, m>>
  %1 = "weft.mul"(%0, %w) : (tensor<?x?xf32, #weft.dims<n - m + 1, m>>, tensor<?xf32, #weft.dims<m>>) -> tensor<?x?xf32, #weft.dims<n - m + 1, m>>
  %2 = "weft.sum"(%1) {axes = array<i64: 1>} : (tensor<?x?xf32, #weft.dims<n - m + 1, m>>) -> tensor<?xf32, #weft.dims<n - m + 1>>
  "weft.return"(%2) : (tensor<?xf32, #weft.dims<n - m + 1>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>, %w : tensor<?xf32, #weft.dims<m>>):
    %0 = "weft.region"(%x, %w) ({
    ^bb0(%x_1 : tensor<?xf32, #weft.dims<n>>, %w_1 : tensor<?xf32, #weft.dims<m>>):
      %1 = "weft.access"(%x_1) {shape = #weft.dims<-m + n + 1, m>, starts = #weft.dims<0>, steps = #weft.dims<1, 1>} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?x?xf32, #weft.dims<-m + n + 1, m>>
      %2 = "weft.mul"(%1, %w_1) : (tensor<?x?xf32, #weft.dims<-m + n + 1, m>>, tensor<?xf32, #weft.dims<m>>) -> tensor<?x?xf32, #weft.dims<-m + n + 1, m>>
      %3 = "weft.sum"(%2) {axes = array<i64: 1>, order = ["1"], lanes = 1 : i64, steps = 0 : i64, chained} : (tensor<?x?xf32, #weft.dims<-m + n + 1, m>>) -> tensor<?xf32, #weft.dims<-m + n + 1>>
      "weft.yield"(%3) : (tensor<?xf32, #weft.dims<-m + n + 1>>) -> ()
    }) {space = #weft.dims<-m + n + 1, m>, reduced = array<i64: 1>, rows = ["0"], columns = ["1"], vector = 0 : i64, windows = array<i64: 1>} : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<m>>) -> tensor<?xf32, #weft.dims<-m + n + 1>>
    "weft.return"(%0) : (tensor<?xf32, #weft.dims<-m + n + 1>>) -> ()
  }) : () -> ()
}) : () -> ()
