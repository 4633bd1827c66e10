"builtin.module"() ({
  "nest.kernel"() <{sym_name = "crc16", access = ["read", "update"], layouts = ["C", "C"]}> ({
  ^bb0(%d : memref<?xui8, #weft.dims<n>>, %o : memref<ui16>):
    %0 = "weft.constant"() {value = 4129 : i64, dtype = ui16} : () -> tensor<ui16>
    %1 = "weft.constant"() {value = 32768 : i64, dtype = ui16} : () -> tensor<ui16>
    %2 = "weft.constant"() {value = 0 : i64, dtype = ui16} : () -> tensor<ui16>
    %3 = "weft.constant"() {value = 1 : i64, dtype = ui16} : () -> tensor<ui16>
    %4 = "weft.constant"() {value = 8 : i64, dtype = ui16} : () -> tensor<ui16>
    %5 = "nest.load"(%o) {at = #weft.dims<>} : (memref<ui16>) -> tensor<ui16>
    %6 = "nest.for"(%5) ({
    ^bb0(%crc : tensor<ui16>):
      %7 = "nest.load"(%d) {at = #weft.dims<@i>} : (memref<?xui8, #weft.dims<n>>) -> tensor<ui8>
      %8 = "weft.cast"(%7) {to = ui16} : (tensor<ui8>) -> tensor<ui16>
      %9 = "weft.left_shift"(%8, %4) : (tensor<ui16>, tensor<ui16>) -> tensor<ui16>
      %10 = "weft.bitwise_xor"(%crc, %9) : (tensor<ui16>, tensor<ui16>) -> tensor<ui16>
      %11 = "nest.for"(%10) ({
      ^bb0(%c : tensor<ui16>):
        %12 = "weft.bitwise_and"(%c, %1) : (tensor<ui16>, tensor<ui16>) -> tensor<ui16>
        %13 = "weft.ne"(%12, %2) : (tensor<ui16>, tensor<ui16>) -> tensor<i1>
        %14 = "weft.left_shift"(%c, %3) : (tensor<ui16>, tensor<ui16>) -> tensor<ui16>
        %15 = "weft.bitwise_xor"(%14, %0) : (tensor<ui16>, tensor<ui16>) -> tensor<ui16>
        %16 = "weft.where"(%13, %15, %14) : (tensor<i1>, tensor<ui16>, tensor<ui16>) -> tensor<ui16>
        "nest.yield"(%16) : (tensor<ui16>) -> ()
      }) {var = "b", range = #weft.dims<0, 8>, kind = "serial"} : (tensor<ui16>) -> tensor<ui16>
      "nest.ask"() : () -> ()
      "nest.yield"(%11) : (tensor<ui16>) -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : (tensor<ui16>) -> tensor<ui16>
    "nest.store"(%6, %o) {at = #weft.dims<>} : (tensor<ui16>, memref<ui16>) -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
