"""`.weft` text or a traced Python function in, a graph out."""
