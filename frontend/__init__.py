"""Turn `.weft` text, Python functions and expressions into graphs."""
