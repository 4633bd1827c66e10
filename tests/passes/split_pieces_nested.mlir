// RUN: split-pieces
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%a : tensor<1x?xf32, #weft.dims<1, m + 1>>, %b : tensor<?x1xf32, #weft.dims<n, 1>>, %c : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.concatenate"(%b, %c) {axis = 1 : i64} : (tensor<?x1xf32, #weft.dims<n, 1>>, tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m + 1>>
  %1 = "weft.concatenate"(%a, %0) {axis = 0 : i64} : (tensor<1x?xf32, #weft.dims<1, m + 1>>, tensor<?x?xf32, #weft.dims<n, m + 1>>) -> tensor<?x?xf32, #weft.dims<n + 1, m + 1>>
  %2 = "weft.neg"(%1) : (tensor<?x?xf32, #weft.dims<n + 1, m + 1>>) -> tensor<?x?xf32, #weft.dims<n + 1, m + 1>>
  "weft.return"(%2) : (tensor<?x?xf32, #weft.dims<n + 1, m + 1>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%a : tensor<1x?xf32, #weft.dims<1, m + 1>>, %b : tensor<?x1xf32, #weft.dims<n, 1>>, %c : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.neg"(%a) : (tensor<1x?xf32, #weft.dims<1, m + 1>>) -> tensor<1x?xf32, #weft.dims<1, m + 1>>
    %1 = "weft.neg"(%b) : (tensor<?x1xf32, #weft.dims<n, 1>>) -> tensor<?x1xf32, #weft.dims<n, 1>>
    %2 = "weft.neg"(%c) : (tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    %3 = "weft.concatenate"(%1, %2) {axis = 1 : i64} : (tensor<?x1xf32, #weft.dims<n, 1>>, tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m + 1>>
    %4 = "weft.concatenate"(%0, %3) {axis = 0 : i64} : (tensor<1x?xf32, #weft.dims<1, m + 1>>, tensor<?x?xf32, #weft.dims<n, m + 1>>) -> tensor<?x?xf32, #weft.dims<n + 1, m + 1>>
    "weft.return"(%4) : (tensor<?x?xf32, #weft.dims<n + 1, m + 1>>) -> ()
  }) : () -> ()
}) : () -> ()
