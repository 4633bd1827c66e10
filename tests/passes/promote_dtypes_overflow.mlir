// RUN: promote-dtypes
"weft.kernel"() <{sym_name = "f"}> ({
^bb0(%x : tensor<?xi32, #weft.dims<n>>):
  %0 = "weft.constant"() {value = 2147483648 : i64, dtype = !weft.weak<int>} : () -> !weft.weak<int>
  %1 = "weft.add"(%x, %0) : (tensor<?xi32, #weft.dims<n>>, !weft.weak<int>) -> tensor<?xi32, #weft.dims<n>>
  "weft.return"(%1) : (tensor<?xi32, #weft.dims<n>>) -> ()
}) : () -> ()
// CHECK
// OverflowProblem: promote_dtypes_overflow.mlir:4:3: Python integer 2147483648 out of bounds for int32
//  4 |   %0 = "weft.constant"() {value = 2147483648 : i64, dtype = !weft.weak<int>} : () -> !weft.weak<int>
//    |   ^^
// hint: take a smaller number, or give the array a wider dtype first, as with .astype(np.int64)
