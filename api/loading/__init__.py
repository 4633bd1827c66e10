"""Make kernels from files, directories, packages, the library, printed graphs, networkx graphs and loop nests."""
