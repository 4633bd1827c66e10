// RUN: split-complex
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xcomplex<f32>, #weft.dims<n>>):
  %0 = "weft.each"(%x) ({ ^bb0(%a : tensor<complex<f32>>):
    %1 = "weft.while"(%a) ({ ^bb0(%z : tensor<complex<f32>>):
      %3 = "weft.isnan"(%z) : (tensor<complex<f32>>) -> tensor<i1>
      %4 = "weft.add"(%z, %z) : (tensor<complex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
      "weft.yield"(%3, %4) : (tensor<i1>, tensor<complex<f32>>) -> () }) {carried = 1 : i64} : (tensor<complex<f32>>) -> tensor<complex<f32>>
    "weft.yield"(%1) : (tensor<complex<f32>>) -> () }) : (tensor<?xcomplex<f32>, #weft.dims<n>>) -> tensor<?xcomplex<f32>, #weft.dims<n>>
  "weft.return"(%0) : (tensor<?xcomplex<f32>, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xcomplex<f32>, #weft.dims<n>>):
    %0 = "weft.real"(%x) : (tensor<?xcomplex<f32>, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    %1 = "weft.imag"(%x) : (tensor<?xcomplex<f32>, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    %2:2 = "weft.each"(%0, %1) ({
    ^bb0(%a : tensor<f32>, %a_1 : tensor<f32>):
      %3:2 = "weft.while"(%a, %a_1) ({
      ^bb0(%z : tensor<f32>, %z_1 : tensor<f32>):
        %4 = "weft.isnan"(%z) : (tensor<f32>) -> tensor<i1>
        %5 = "weft.isnan"(%z_1) : (tensor<f32>) -> tensor<i1>
        %6 = "weft.logical_or"(%4, %5) : (tensor<i1>, tensor<i1>) -> tensor<i1>
        %7 = "weft.add"(%z, %z) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        %8 = "weft.add"(%z_1, %z_1) : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "weft.yield"(%6, %7, %8) : (tensor<i1>, tensor<f32>, tensor<f32>) -> ()
      }) {carried = 2 : i64} : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
      "weft.yield"(%3#0, %3#1) : (tensor<f32>, tensor<f32>) -> ()
    }) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>)
    %9 = "weft.complex"(%2#0, %2#1) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> tensor<?xcomplex<f32>, #weft.dims<n>>
    "weft.return"(%9) : (tensor<?xcomplex<f32>, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
