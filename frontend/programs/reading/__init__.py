"""Read functions: their source, the names in them, and, from their syntax, which statements may be compiled."""
