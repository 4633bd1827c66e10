// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%z : tensor<?xf32, #weft.dims<n>>, %x : tensor<1x?xf32, #weft.dims<1, m>>, %y : tensor<1x?xf32, #weft.dims<1, m>>):
  %0 = "weft.broadcast"(%y) {shape = #weft.dims<n, m>} : (tensor<1x?xf32, #weft.dims<1, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  %1 = "weft.add"(%x, %0) : (tensor<1x?xf32, #weft.dims<1, m>>, tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  "weft.return"(%1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%z : tensor<?xf32, #weft.dims<n>>, %x : tensor<1x?xf32, #weft.dims<1, m>>, %y : tensor<1x?xf32, #weft.dims<1, m>>):
    %0 = "weft.broadcast"(%y) {shape = #weft.dims<n, m>} : (tensor<1x?xf32, #weft.dims<1, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    %1 = "weft.add"(%x, %0) : (tensor<1x?xf32, #weft.dims<1, m>>, tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    "weft.return"(%1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
  }) : () -> ()
}) : () -> ()
