// RUN: drop-dead
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>, %i : tensor<?xi64, #weft.dims<m>>):
  %0 = "weft.gather"(%x, %i) {axes = array<i64: 0>} : (tensor<?xf32, #weft.dims<n>>, tensor<?xi64, #weft.dims<m>>) -> tensor<?xf32, #weft.dims<m>>
  %1 = "weft.exp"(%0) : (tensor<?xf32, #weft.dims<m>>) -> tensor<?xf32, #weft.dims<m>>
  %2 = "weft.neg"(%x) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  "weft.return"(%2) : (tensor<?xf32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>, %i : tensor<?xi64, #weft.dims<m>>):
    %0 = "weft.gather"(%x, %i) {axes = array<i64: 0>} : (tensor<?xf32, #weft.dims<n>>, tensor<?xi64, #weft.dims<m>>) -> tensor<?xf32, #weft.dims<m>>
    %1 = "weft.neg"(%x) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    %2 = "weft.eq"(%0, %0) : (tensor<?xf32, #weft.dims<m>>, tensor<?xf32, #weft.dims<m>>) -> tensor<?xi1, #weft.dims<m>>
    %3 = "weft.ne"(%0, %0) : (tensor<?xf32, #weft.dims<m>>, tensor<?xf32, #weft.dims<m>>) -> tensor<?xi1, #weft.dims<m>>
    %4 = "weft.logical_or"(%2, %3) : (tensor<?xi1, #weft.dims<m>>, tensor<?xi1, #weft.dims<m>>) -> tensor<?xi1, #weft.dims<m>>
    %5 = "weft.all"(%4) {axes = array<i64: 0>} : (tensor<?xi1, #weft.dims<m>>) -> tensor<i1>
    %6 = "weft.demand"(%1, %5) {error = "IndexProblem", message = "an index is out of bounds"} : (tensor<?xf32, #weft.dims<n>>, tensor<i1>) -> tensor<?xf32, #weft.dims<n>>
    "weft.return"(%6) : (tensor<?xf32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
