// RUN: split-complex
// A complex product is four real ones.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%a : tensor<?x?xcomplex<f32>, #weft.dims<m, k>>, %b : tensor<?x?xcomplex<f32>, #weft.dims<k, n>>):
  %0 = "weft.matmul"(%a, %b) : (tensor<?x?xcomplex<f32>, #weft.dims<m, k>>, tensor<?x?xcomplex<f32>, #weft.dims<k, n>>) -> tensor<?x?xcomplex<f32>, #weft.dims<m, n>>
  "weft.return"(%0) : (tensor<?x?xcomplex<f32>, #weft.dims<m, n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%a : tensor<?x?xcomplex<f32>, #weft.dims<m, k>>, %b : tensor<?x?xcomplex<f32>, #weft.dims<k, n>>):
    %0 = "weft.real"(%a) : (tensor<?x?xcomplex<f32>, #weft.dims<m, k>>) -> tensor<?x?xf32, #weft.dims<m, k>>
    %1 = "weft.imag"(%a) : (tensor<?x?xcomplex<f32>, #weft.dims<m, k>>) -> tensor<?x?xf32, #weft.dims<m, k>>
    %2 = "weft.real"(%b) : (tensor<?x?xcomplex<f32>, #weft.dims<k, n>>) -> tensor<?x?xf32, #weft.dims<k, n>>
    %3 = "weft.imag"(%b) : (tensor<?x?xcomplex<f32>, #weft.dims<k, n>>) -> tensor<?x?xf32, #weft.dims<k, n>>
    %4 = "weft.matmul"(%0, %2) : (tensor<?x?xf32, #weft.dims<m, k>>, tensor<?x?xf32, #weft.dims<k, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    %5 = "weft.matmul"(%1, %3) : (tensor<?x?xf32, #weft.dims<m, k>>, tensor<?x?xf32, #weft.dims<k, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    %6 = "weft.sub"(%4, %5) : (tensor<?x?xf32, #weft.dims<m, n>>, tensor<?x?xf32, #weft.dims<m, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    %7 = "weft.matmul"(%0, %3) : (tensor<?x?xf32, #weft.dims<m, k>>, tensor<?x?xf32, #weft.dims<k, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    %8 = "weft.matmul"(%1, %2) : (tensor<?x?xf32, #weft.dims<m, k>>, tensor<?x?xf32, #weft.dims<k, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    %9 = "weft.add"(%7, %8) : (tensor<?x?xf32, #weft.dims<m, n>>, tensor<?x?xf32, #weft.dims<m, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    %10 = "weft.complex"(%6, %9) : (tensor<?x?xf32, #weft.dims<m, n>>, tensor<?x?xf32, #weft.dims<m, n>>) -> tensor<?x?xcomplex<f32>, #weft.dims<m, n>>
    "weft.return"(%10) : (tensor<?x?xcomplex<f32>, #weft.dims<m, n>>) -> ()
  }) : () -> ()
}) : () -> ()
