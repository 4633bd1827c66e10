"""Read functions: their source, the names in them, and which statements may be compiled, judging by their syntax."""
