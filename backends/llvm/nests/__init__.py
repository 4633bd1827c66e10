"""Translate loop nests to LLVM text: one function for each op, which calls itself for bodies."""
