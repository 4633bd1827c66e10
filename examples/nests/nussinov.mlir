"builtin.module"() ({
  "nest.kernel"() <{sym_name = "nussinov", access = ["read", "update"], layouts = ["C", "C"]}> ({
  ^bb0(%s : memref<?xi32, #weft.dims<n>>, %t : memref<?x?xi32, #weft.dims<n, n>>):
    %0 = "weft.constant"() {value = 3 : i64, dtype = i32} : () -> tensor<i32>
    "nest.for"() ({
    ^bb0:
      "nest.for"() ({
      ^bb0:
        %1 = "nest.load"(%t) {at = #weft.dims<-@r + n - 1, @j>} : (memref<?x?xi32, #weft.dims<n, n>>) -> tensor<i32>
        %2 = "nest.load"(%t) {at = #weft.dims<-@r + n - 1, @j - 1>} : (memref<?x?xi32, #weft.dims<n, n>>) -> tensor<i32>
        %3 = "weft.maximum"(%1, %2) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %4 = "nest.load"(%t) {at = #weft.dims<-@r + n, @j>} : (memref<?x?xi32, #weft.dims<n, n>>) -> tensor<i32>
        %5 = "weft.maximum"(%3, %4) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %6 = "nest.load"(%t) {at = #weft.dims<-@r + n, @j - 1>} : (memref<?x?xi32, #weft.dims<n, n>>) -> tensor<i32>
        %7 = "nest.load"(%s) {at = #weft.dims<-@r + n - 1>} : (memref<?xi32, #weft.dims<n>>) -> tensor<i32>
        %8 = "nest.load"(%s) {at = #weft.dims<@j>} : (memref<?xi32, #weft.dims<n>>) -> tensor<i32>
        %9 = "weft.add"(%7, %8) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %10 = "weft.eq"(%9, %0) : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %11 = "weft.size"() {size = #weft.dims<@j + @r - n>} : () -> tensor<i64>
        %12 = "weft.constant"() {value = 0 : i64, dtype = i64} : () -> tensor<i64>
        %13 = "weft.gt"(%11, %12) : (tensor<i64>, tensor<i64>) -> tensor<i1>
        %14 = "weft.logical_and"(%10, %13) : (tensor<i1>, tensor<i1>) -> tensor<i1>
        %15 = "weft.cast"(%14) {to = i32} : (tensor<i1>) -> tensor<i32>
        %16 = "weft.add"(%6, %15) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %17 = "weft.maximum"(%5, %16) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %18 = "nest.walk"() ({
        ^bb0:
          %19 = "nest.load"(%t) {at = #weft.dims<-@r + n - 1, @k>} : (memref<?x?xi32, #weft.dims<n, n>>) -> tensor<i32>
          %20 = "nest.load"(%t) {at = #weft.dims<@k + 1, @j>} : (memref<?x?xi32, #weft.dims<n, n>>) -> tensor<i32>
          %21 = "weft.add"(%19, %20) : (tensor<i32>, tensor<i32>) -> tensor<i32>
          "nest.yield"(%21) : (tensor<i32>) -> ()
        }) {vars = ["k"], range = #weft.dims<-@r + n, @j>, kind = "vector", width = 16 : i64, combine = ["max"], steps = array<i64: 0>} : () -> vector<16xi32>
        %22 = "nest.across"(%18) {combine = "max"} : (vector<16xi32>) -> tensor<i32>
        %23 = "weft.maximum"(%17, %22) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        "nest.store"(%23, %t) {at = #weft.dims<-@r + n - 1, @j>} : (tensor<i32>, memref<?x?xi32, #weft.dims<n, n>>) -> ()
        "nest.yield"() : () -> ()
      }) {var = "j", range = #weft.dims<-@r + n, n>, kind = "serial"} : () -> ()
      "nest.ask"() : () -> ()
      "nest.yield"() : () -> ()
    }) {var = "r", range = #weft.dims<1, n>, kind = "serial"} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
