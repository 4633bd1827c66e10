"""Lower what pieces do with arrays: index, store, view, make and compute them."""
