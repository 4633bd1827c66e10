"""Lower pieces of Python functions, with their loops, branches and stores, to nests."""
