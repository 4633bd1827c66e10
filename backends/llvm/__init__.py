"""A lowered graph in, native code out."""
