"""Turn the text of a `.weft` file into checked syntax: lexer, parser, imports, checks before any types are known."""
