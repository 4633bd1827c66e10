"""Run kernels on arrays in chunks: plan them, ship their pieces, run them on chunks, and merge what they give."""
