"""Run LLVM, and load the object files that it writes."""
