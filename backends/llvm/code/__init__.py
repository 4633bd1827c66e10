"""Write LLVM text: values, scopes of loops, frames, memory and conversions."""
