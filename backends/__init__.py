"""Run lowered graphs: NumPy as the reference, LLVM for native code."""
