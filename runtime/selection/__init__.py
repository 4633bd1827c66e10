"""Choose between variants of a kernel that all give the same bits."""
