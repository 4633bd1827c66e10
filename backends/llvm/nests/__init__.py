"""Translate loop nests to LLVM text, with one function for each kind of op."""
