"""Mathematical functions as vector code, one module per family."""
