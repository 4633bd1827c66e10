"""Compile lowered graphs to native code through LLVM."""
