// RUN: split-complex
// Reshapes of arguments that merge axes keep complex numbers in memory; one that is not in C order is copied once.
"weft.kernel"() <{sym_name = "f", layouts = ["C", "F"], guards = []}> ({
^bb0(%a : tensor<?x?xcomplex<f64>, #weft.dims<m, n>>, %b : tensor<?x?xcomplex<f64>, #weft.dims<m, n>>):
  %0 = "weft.reshape"(%a) {shape = #weft.dims<m*n>} : (tensor<?x?xcomplex<f64>, #weft.dims<m, n>>) -> tensor<?xcomplex<f64>, #weft.dims<m*n>>
  %1 = "weft.reshape"(%b) {shape = #weft.dims<m*n>} : (tensor<?x?xcomplex<f64>, #weft.dims<m, n>>) -> tensor<?xcomplex<f64>, #weft.dims<m*n>>
  %2 = "weft.add"(%0, %1) : (tensor<?xcomplex<f64>, #weft.dims<m*n>>, tensor<?xcomplex<f64>, #weft.dims<m*n>>) -> tensor<?xcomplex<f64>, #weft.dims<m*n>>
  "weft.return"(%2) : (tensor<?xcomplex<f64>, #weft.dims<m*n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f", layouts = ["C", "F"]}> ({
  ^bb0(%a : tensor<?x?xcomplex<f64>, #weft.dims<m, n>>, %b : tensor<?x?xcomplex<f64>, #weft.dims<m, n>>):
    %0 = "weft.reshape"(%a) {shape = #weft.dims<m*n>} : (tensor<?x?xcomplex<f64>, #weft.dims<m, n>>) -> tensor<?xcomplex<f64>, #weft.dims<m*n>>
    %1 = "weft.real"(%b) : (tensor<?x?xcomplex<f64>, #weft.dims<m, n>>) -> tensor<?x?xf64, #weft.dims<m, n>>
    %2 = "weft.imag"(%b) : (tensor<?x?xcomplex<f64>, #weft.dims<m, n>>) -> tensor<?x?xf64, #weft.dims<m, n>>
    %3 = "weft.complex"(%1, %2) : (tensor<?x?xf64, #weft.dims<m, n>>, tensor<?x?xf64, #weft.dims<m, n>>) -> tensor<?x?xcomplex<f64>, #weft.dims<m, n>>
    %4 = "weft.reshape"(%3) {shape = #weft.dims<m*n>} : (tensor<?x?xcomplex<f64>, #weft.dims<m, n>>) -> tensor<?xcomplex<f64>, #weft.dims<m*n>>
    %5 = "weft.real"(%0) : (tensor<?xcomplex<f64>, #weft.dims<m*n>>) -> tensor<?xf64, #weft.dims<m*n>>
    %6 = "weft.imag"(%0) : (tensor<?xcomplex<f64>, #weft.dims<m*n>>) -> tensor<?xf64, #weft.dims<m*n>>
    %7 = "weft.real"(%4) : (tensor<?xcomplex<f64>, #weft.dims<m*n>>) -> tensor<?xf64, #weft.dims<m*n>>
    %8 = "weft.imag"(%4) : (tensor<?xcomplex<f64>, #weft.dims<m*n>>) -> tensor<?xf64, #weft.dims<m*n>>
    %9 = "weft.add"(%5, %7) : (tensor<?xf64, #weft.dims<m*n>>, tensor<?xf64, #weft.dims<m*n>>) -> tensor<?xf64, #weft.dims<m*n>>
    %10 = "weft.add"(%6, %8) : (tensor<?xf64, #weft.dims<m*n>>, tensor<?xf64, #weft.dims<m*n>>) -> tensor<?xf64, #weft.dims<m*n>>
    %11 = "weft.complex"(%9, %10) : (tensor<?xf64, #weft.dims<m*n>>, tensor<?xf64, #weft.dims<m*n>>) -> tensor<?xcomplex<f64>, #weft.dims<m*n>>
    "weft.return"(%11) : (tensor<?xcomplex<f64>, #weft.dims<m*n>>) -> ()
  }) : () -> ()
}) : () -> ()
