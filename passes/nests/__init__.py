"""Lower graphs of arrays to loop nests."""
