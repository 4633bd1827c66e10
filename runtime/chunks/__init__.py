"""Run kernels on arrays in chunks: plan them, ship their pieces, run these on chunks, and merge the results."""
