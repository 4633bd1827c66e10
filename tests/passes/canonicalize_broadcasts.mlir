// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<m>>, %y : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.broadcast"(%x) {shape = #weft.dims<1, m>} : (tensor<?xf32, #weft.dims<m>>) -> tensor<1x?xf32, #weft.dims<1, m>>
  %1 = "weft.broadcast"(%0) {shape = #weft.dims<n, m>} : (tensor<1x?xf32, #weft.dims<1, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  %2 = "weft.broadcast"(%x) {shape = #weft.dims<n, m>} : (tensor<?xf32, #weft.dims<m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  %3 = "weft.add"(%y, %2) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  "weft.return"(%1, %3) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x?xf32, #weft.dims<n, m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<m>>, %y : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.broadcast"(%x) {shape = #weft.dims<1, m>} : (tensor<?xf32, #weft.dims<m>>) -> tensor<1x?xf32, #weft.dims<1, m>>
    %1 = "weft.broadcast"(%x) {shape = #weft.dims<n, m>} : (tensor<?xf32, #weft.dims<m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    %2 = "weft.broadcast"(%x) {shape = #weft.dims<n, m>} : (tensor<?xf32, #weft.dims<m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    %3 = "weft.add"(%y, %x) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?xf32, #weft.dims<m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    "weft.return"(%1, %3) : (tensor<?x?xf32, #weft.dims<n, m>>, tensor<?x?xf32, #weft.dims<n, m>>) -> ()
  }) : () -> ()
}) : () -> ()
