// RUN: split-complex
// A complex product of two terms is elementwise.
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%a : tensor<?x2xcomplex<f32>, #weft.dims<m, 2>>, %b : tensor<2x?xcomplex<f32>, #weft.dims<2, n>>):
  %0 = "weft.matmul"(%a, %b) : (tensor<?x2xcomplex<f32>, #weft.dims<m, 2>>, tensor<2x?xcomplex<f32>, #weft.dims<2, n>>) -> tensor<?x?xcomplex<f32>, #weft.dims<m, n>>
  "weft.return"(%0) : (tensor<?x?xcomplex<f32>, #weft.dims<m, n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%a : tensor<?x2xcomplex<f32>, #weft.dims<m, 2>>, %b : tensor<2x?xcomplex<f32>, #weft.dims<2, n>>):
    %0 = "weft.real"(%a) : (tensor<?x2xcomplex<f32>, #weft.dims<m, 2>>) -> tensor<?x2xf32, #weft.dims<m, 2>>
    %1 = "weft.imag"(%a) : (tensor<?x2xcomplex<f32>, #weft.dims<m, 2>>) -> tensor<?x2xf32, #weft.dims<m, 2>>
    %2 = "weft.real"(%b) : (tensor<2x?xcomplex<f32>, #weft.dims<2, n>>) -> tensor<2x?xf32, #weft.dims<2, n>>
    %3 = "weft.imag"(%b) : (tensor<2x?xcomplex<f32>, #weft.dims<2, n>>) -> tensor<2x?xf32, #weft.dims<2, n>>
    %4 = "weft.slice"(%0) {starts = #weft.dims<0, 0>, steps = array<i64: 1, 1>, sizes = #weft.dims<m, 1>} : (tensor<?x2xf32, #weft.dims<m, 2>>) -> tensor<?x1xf32, #weft.dims<m, 1>>
    %5 = "weft.slice"(%1) {starts = #weft.dims<0, 0>, steps = array<i64: 1, 1>, sizes = #weft.dims<m, 1>} : (tensor<?x2xf32, #weft.dims<m, 2>>) -> tensor<?x1xf32, #weft.dims<m, 1>>
    %6 = "weft.slice"(%2) {starts = #weft.dims<0, 0>, steps = array<i64: 1, 1>, sizes = #weft.dims<1, n>} : (tensor<2x?xf32, #weft.dims<2, n>>) -> tensor<1x?xf32, #weft.dims<1, n>>
    %7 = "weft.slice"(%3) {starts = #weft.dims<0, 0>, steps = array<i64: 1, 1>, sizes = #weft.dims<1, n>} : (tensor<2x?xf32, #weft.dims<2, n>>) -> tensor<1x?xf32, #weft.dims<1, n>>
    %8 = "weft.mul"(%4, %6) : (tensor<?x1xf32, #weft.dims<m, 1>>, tensor<1x?xf32, #weft.dims<1, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    %9 = "weft.mul"(%5, %7) : (tensor<?x1xf32, #weft.dims<m, 1>>, tensor<1x?xf32, #weft.dims<1, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    %10 = "weft.sub"(%8, %9) : (tensor<?x?xf32, #weft.dims<m, n>>, tensor<?x?xf32, #weft.dims<m, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    %11 = "weft.mul"(%4, %7) : (tensor<?x1xf32, #weft.dims<m, 1>>, tensor<1x?xf32, #weft.dims<1, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    %12 = "weft.mul"(%5, %6) : (tensor<?x1xf32, #weft.dims<m, 1>>, tensor<1x?xf32, #weft.dims<1, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    %13 = "weft.add"(%11, %12) : (tensor<?x?xf32, #weft.dims<m, n>>, tensor<?x?xf32, #weft.dims<m, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    %14 = "weft.slice"(%0) {starts = #weft.dims<0, 1>, steps = array<i64: 1, 1>, sizes = #weft.dims<m, 1>} : (tensor<?x2xf32, #weft.dims<m, 2>>) -> tensor<?x1xf32, #weft.dims<m, 1>>
    %15 = "weft.slice"(%1) {starts = #weft.dims<0, 1>, steps = array<i64: 1, 1>, sizes = #weft.dims<m, 1>} : (tensor<?x2xf32, #weft.dims<m, 2>>) -> tensor<?x1xf32, #weft.dims<m, 1>>
    %16 = "weft.slice"(%2) {starts = #weft.dims<1, 0>, steps = array<i64: 1, 1>, sizes = #weft.dims<1, n>} : (tensor<2x?xf32, #weft.dims<2, n>>) -> tensor<1x?xf32, #weft.dims<1, n>>
    %17 = "weft.slice"(%3) {starts = #weft.dims<1, 0>, steps = array<i64: 1, 1>, sizes = #weft.dims<1, n>} : (tensor<2x?xf32, #weft.dims<2, n>>) -> tensor<1x?xf32, #weft.dims<1, n>>
    %18 = "weft.mul"(%14, %16) : (tensor<?x1xf32, #weft.dims<m, 1>>, tensor<1x?xf32, #weft.dims<1, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    %19 = "weft.mul"(%15, %17) : (tensor<?x1xf32, #weft.dims<m, 1>>, tensor<1x?xf32, #weft.dims<1, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    %20 = "weft.sub"(%18, %19) : (tensor<?x?xf32, #weft.dims<m, n>>, tensor<?x?xf32, #weft.dims<m, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    %21 = "weft.mul"(%14, %17) : (tensor<?x1xf32, #weft.dims<m, 1>>, tensor<1x?xf32, #weft.dims<1, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    %22 = "weft.mul"(%15, %16) : (tensor<?x1xf32, #weft.dims<m, 1>>, tensor<1x?xf32, #weft.dims<1, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    %23 = "weft.add"(%21, %22) : (tensor<?x?xf32, #weft.dims<m, n>>, tensor<?x?xf32, #weft.dims<m, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    %24 = "weft.add"(%10, %20) : (tensor<?x?xf32, #weft.dims<m, n>>, tensor<?x?xf32, #weft.dims<m, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    %25 = "weft.add"(%13, %23) : (tensor<?x?xf32, #weft.dims<m, n>>, tensor<?x?xf32, #weft.dims<m, n>>) -> tensor<?x?xf32, #weft.dims<m, n>>
    %26 = "weft.complex"(%24, %25) : (tensor<?x?xf32, #weft.dims<m, n>>, tensor<?x?xf32, #weft.dims<m, n>>) -> tensor<?x?xcomplex<f32>, #weft.dims<m, n>>
    "weft.return"(%26) : (tensor<?x?xcomplex<f32>, #weft.dims<m, n>>) -> ()
  }) : () -> ()
}) : () -> ()
