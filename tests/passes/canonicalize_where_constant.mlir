// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xf32, #weft.dims<m>>, %y : tensor<?x?xf32, #weft.dims<n, m>>):
  %0 = "weft.constant"() {value, dtype = i1} : () -> tensor<i1>
  %1 = "weft.where"(%0, %x, %y) : (tensor<i1>, tensor<?xf32, #weft.dims<m>>, tensor<?x?xf32, #weft.dims<n, m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
  "weft.return"(%1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<m>>, %y : tensor<?x?xf32, #weft.dims<n, m>>):
    %0 = "weft.constant"() {value, dtype = i1} : () -> tensor<i1>
    %1 = "weft.broadcast"(%x) {shape = #weft.dims<n, m>} : (tensor<?xf32, #weft.dims<m>>) -> tensor<?x?xf32, #weft.dims<n, m>>
    "weft.return"(%1) : (tensor<?x?xf32, #weft.dims<n, m>>) -> ()
  }) : () -> ()
}) : () -> ()
