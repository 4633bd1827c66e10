// RUN: split-pieces
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>, %y : tensor<?x1xf32, #weft.dims<k, 1>>):
  %0 = "weft.slice"(%x) {starts = #weft.dims<n - 1>, steps = array<i64: 1>, sizes = #weft.dims<1>} : (tensor<?xf32, #weft.dims<n>>) -> tensor<1xf32>
  %1 = "weft.slice"(%x) {starts = #weft.dims<0>, steps = array<i64: 1>, sizes = #weft.dims<n - 1>} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n - 1>>
  %2 = "weft.concatenate"(%0, %1) {axis = 0 : i64} : (tensor<1xf32>, tensor<?xf32, #weft.dims<n - 1>>) -> tensor<?xf32, #weft.dims<n>>
  %3 = "weft.sub"(%x, %2) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
  %4 = "weft.mul"(%y, %3) : (tensor<?x1xf32, #weft.dims<k, 1>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?x?xf32, #weft.dims<k, n>>
  "weft.return"(%4) : (tensor<?x?xf32, #weft.dims<k, n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>, %y : tensor<?x1xf32, #weft.dims<k, 1>>):
    %0 = "weft.slice"(%x) {starts = #weft.dims<n - 1>, steps = array<i64: 1>, sizes = #weft.dims<1>} : (tensor<?xf32, #weft.dims<n>>) -> tensor<1xf32>
    %1 = "weft.slice"(%x) {starts = #weft.dims<0>, steps = array<i64: 1>, sizes = #weft.dims<n - 1>} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n - 1>>
    %2 = "weft.slice"(%x) {starts = #weft.dims<0>, steps = array<i64: 1>, sizes = #weft.dims<1>} : (tensor<?xf32, #weft.dims<n>>) -> tensor<1xf32>
    %3 = "weft.sub"(%2, %0) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %4 = "weft.slice"(%x) {starts = #weft.dims<1>, steps = array<i64: 1>, sizes = #weft.dims<n - 1>} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n - 1>>
    %5 = "weft.sub"(%4, %1) : (tensor<?xf32, #weft.dims<n - 1>>, tensor<?xf32, #weft.dims<n - 1>>) -> tensor<?xf32, #weft.dims<n - 1>>
    %6 = "weft.mul"(%y, %3) : (tensor<?x1xf32, #weft.dims<k, 1>>, tensor<1xf32>) -> tensor<?x1xf32, #weft.dims<k, 1>>
    %7 = "weft.mul"(%y, %5) : (tensor<?x1xf32, #weft.dims<k, 1>>, tensor<?xf32, #weft.dims<n - 1>>) -> tensor<?x?xf32, #weft.dims<k, n - 1>>
    %8 = "weft.concatenate"(%6, %7) {axis = 1 : i64} : (tensor<?x1xf32, #weft.dims<k, 1>>, tensor<?x?xf32, #weft.dims<k, n - 1>>) -> tensor<?x?xf32, #weft.dims<k, n>>
    "weft.return"(%8) : (tensor<?x?xf32, #weft.dims<k, n>>) -> ()
  }) : () -> ()
}) : () -> ()
