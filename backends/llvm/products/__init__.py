"""Matrix products: a region with a `matmul` in, native functions that pack its operands and multiply tiles out."""
