// RUN: canonicalize
// One element runs nowhere; the parts of complex numbers are added by themselves, but not multiplied.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?x1xf32, #weft.dims<n, 1>>, %z : tensor<?xcomplex<f32>, #weft.dims<n>>):
  %0 = "weft.scan"(%x) {combine = "add", axis = 1 : i64} : (tensor<?x1xf32, #weft.dims<n, 1>>) -> tensor<?x1xf32, #weft.dims<n, 1>>
  %1 = "weft.scan"(%z) {combine = "add", axis = 0 : i64} : (tensor<?xcomplex<f32>, #weft.dims<n>>) -> tensor<?xcomplex<f32>, #weft.dims<n>>
  %2 = "weft.scan"(%z) {combine = "mul", axis = 0 : i64} : (tensor<?xcomplex<f32>, #weft.dims<n>>) -> tensor<?xcomplex<f32>, #weft.dims<n>>
  "weft.return"(%0, %1, %2) : (tensor<?x1xf32, #weft.dims<n, 1>>, tensor<?xcomplex<f32>, #weft.dims<n>>, tensor<?xcomplex<f32>, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?x1xf32, #weft.dims<n, 1>>, %z : tensor<?xcomplex<f32>, #weft.dims<n>>):
    %0 = "weft.real"(%z) : (tensor<?xcomplex<f32>, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    %1 = "weft.scan"(%0) {combine = "add", axis = 0 : i64} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    %2 = "weft.imag"(%z) : (tensor<?xcomplex<f32>, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    %3 = "weft.scan"(%2) {combine = "add", axis = 0 : i64} : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    %4 = "weft.complex"(%1, %3) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?xcomplex<f32>, #weft.dims<n>>
    %5 = "weft.scan"(%z) {combine = "mul", axis = 0 : i64} : (tensor<?xcomplex<f32>, #weft.dims<n>>) -> tensor<?xcomplex<f32>, #weft.dims<n>>
    "weft.return"(%x, %4, %5) : (tensor<?x1xf32, #weft.dims<n, 1>>, tensor<?xcomplex<f32>, #weft.dims<n>>, tensor<?xcomplex<f32>, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
