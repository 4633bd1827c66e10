// RUN: canonicalize
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<100xf32>):
  %0 = "weft.slice"(%x) {starts = #weft.dims<10>, steps = array<i64: 3>, sizes = #weft.dims<20>} : (tensor<100xf32>) -> tensor<20xf32>
  %1 = "weft.slice"(%0) {starts = #weft.dims<19>, steps = array<i64: -2>, sizes = #weft.dims<5>} : (tensor<20xf32>) -> tensor<5xf32>
  "weft.return"(%1) : (tensor<5xf32>) -> ()
}) : () -> ()
// CHECK
"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<100xf32>):
    %0 = "weft.slice"(%x) {starts = #weft.dims<10>, steps = array<i64: 3>, sizes = #weft.dims<20>} : (tensor<100xf32>) -> tensor<20xf32>
    %1 = "weft.slice"(%x) {starts = #weft.dims<67>, steps = array<i64: -6>, sizes = #weft.dims<5>} : (tensor<100xf32>) -> tensor<5xf32>
    "weft.return"(%1) : (tensor<5xf32>) -> ()
  }) : () -> ()
}) : () -> ()
