"""A lowered graph in, something callable out."""
