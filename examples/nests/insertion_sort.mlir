"builtin.module"() ({
  "nest.kernel"() <{sym_name = "insertion_sort", access = ["update"], layouts = ["C"]}> ({
  ^bb0(%a : memref<?x?xf64, #weft.dims<n, m>>):
    %0 = "weft.constant"() {value = 0 : i64, dtype = i64} : () -> tensor<i64>
    %1 = "weft.constant"() {value = 1 : i64, dtype = i64} : () -> tensor<i64>
    "nest.for"() ({
    ^bb0:
      "nest.for"() ({
      ^bb0:
        %2 = "nest.load"(%a) {at = #weft.dims<@r, @i>} : (memref<?x?xf64, #weft.dims<n, m>>) -> tensor<f64>
        %3 = "weft.size"() {size = #weft.dims<@i>} : () -> tensor<i64>
        %4 = "nest.while"(%3) ({
        ^bb0(%j : tensor<i64>):
          %5 = "weft.gt"(%j, %0) : (tensor<i64>, tensor<i64>) -> tensor<i1>
          %6 = "weft.sub"(%j, %1) : (tensor<i64>, tensor<i64>) -> tensor<i64>
          %7 = "nest.when"(%5) ({
          ^bb0:
            "nest.bind"(%6) {var = "q", range = #weft.dims<0, m - 1>} : (tensor<i64>) -> ()
            %8 = "nest.load"(%a) {at = #weft.dims<@r, @q>} : (memref<?x?xf64, #weft.dims<n, m>>) -> tensor<f64>
            %9 = "weft.gt"(%8, %2) : (tensor<f64>, tensor<f64>) -> tensor<i1>
            "nest.when"(%9) ({
            ^bb0:
              "nest.store"(%8, %a) {at = #weft.dims<@r, @q + 1>} : (tensor<f64>, memref<?x?xf64, #weft.dims<n, m>>) -> ()
              "nest.yield"() : () -> ()
            }) : (tensor<i1>) -> ()
            "nest.yield"(%9) : (tensor<i1>) -> ()
          }) : (tensor<i1>) -> tensor<i1>
          "nest.ask"() : () -> ()
          "nest.yield"(%7, %6) : (tensor<i1>, tensor<i64>) -> ()
        }) : (tensor<i64>) -> tensor<i64>
        "nest.bind"(%4) {var = "e", range = #weft.dims<0, m>} : (tensor<i64>) -> ()
        "nest.store"(%2, %a) {at = #weft.dims<@r, @e>} : (tensor<f64>, memref<?x?xf64, #weft.dims<n, m>>) -> ()
        "nest.yield"() : () -> ()
      }) {var = "i", range = #weft.dims<1, m>, kind = "serial"} : () -> ()
      "nest.yield"() : () -> ()
    }) {var = "r", range = #weft.dims<0, n>, kind = "serial"} : () -> ()
    "nest.yield"() : () -> ()
  }) : () -> ()
}) : () -> ()
