"""Lower what pieces do with arrays: indexing, stores, views, new arrays and array expressions."""
