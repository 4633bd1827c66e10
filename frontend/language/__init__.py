"""Turn the text of a `.weft` file into checked syntax: lexer, parser, imports and the checks that need no types."""
