// RUN: promote-dtypes
"weft.kernel"() <{sym_name = "f", guards = ["n == m"]}> ({
^bb0(%x : tensor<?xf32, #weft.dims<n>>, %y : tensor<?xf64, #weft.dims<n>>):
  %0 = "weft.add"(%x, %y) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf64, #weft.dims<n>>) -> tensor<?xf64, #weft.dims<n>>
  "weft.return"(%0) : (tensor<?xf64, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", guards = ["n == m"]}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>, %y : tensor<?xf64, #weft.dims<n>>):
    %0 = "weft.cast"(%x) {to = f64} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf64, #weft.dims<n>>
    %1 = "weft.add"(%0, %y) : (tensor<?xf64, #weft.dims<n>>, tensor<?xf64, #weft.dims<n>>) -> tensor<?xf64, #weft.dims<n>>
    "weft.return"(%1) : (tensor<?xf64, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
