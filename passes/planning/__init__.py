"""Plan regions: which values share a loop nest, and how its loops run."""
