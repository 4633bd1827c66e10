"""Configure the site: `make docs` runs every example, then Sphinx, and any warning is an error."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from pygments.lexer import RegexLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Text

sys.path.insert(0, str(Path(__file__).parent))

project = "Weft"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["pictures"]
html_theme = "furo"
html_title = "Weft"
html_theme_options = {"sidebar_hide_name": False}
html_show_copyright = False
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
nitpicky = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
suppress_warnings = ["misc.highlighting_failure"]
ROOT = Path(__file__).parents[1]


class WeftLexer(RegexLexer):
    """Colour kernels."""

    name = "weft"
    aliases = ("weft",)
    tokens = {  # noqa: RUF012
        "root": [
            (r"#.*", Comment),
            (r'"[^"]*"', String),
            (
                r"\b(kernel|fn|let|var|const|import|extern|return|if|else|for|in|while|and|or|not|break|continue)\b",
                Keyword,
            ),
            (r"\b(bool|[iuf]\d+|bf16|c64|c128|int|uint|float|complex|number|any)\b", Keyword.Type),
            (r"\d[\d_.]*([eE][+-]?\d+)?", Number),
            (r"[A-Za-z_]\w*", Name),
            (r"[-+*/%@=<>!&|^~.,:;(){}\[\]]", Operator),
            (r"\s+|.", Text),
        ]
    }


class PlainLexer(RegexLexer):
    """Leave printed graphs and grammars as they are."""

    name = "mlir"
    tokens = {"root": [(r"//.*", Comment), (r'"[^"]*"', String), (r"%[\w#]+", Name), (r".|\n", Text)]}  # noqa: RUF012


def as_rst(app, what, name, obj, options, lines):
    """Write Weft's docstrings as reStructuredText: code is indented, and `name: text` lines are parameters."""
    found, inside, is_parameter = [], False, False
    for line in lines:
        if not line:
            found.append("")
            is_parameter = False
            continue
        is_more = is_parameter and line.startswith("    ")
        is_code = line.startswith("    ") and not is_more
        if is_code and not inside:
            found += ["", ".. code-block:: python", ""]
        elif inside and not is_code:
            found.append("")
        inside = is_code
        if is_code:
            found.append(line)
            continue
        text = line.strip().replace("*", r"\*")
        text = re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", text)
        text = re.sub(r"``([^`]+)``(?=\w)", r"``\1``\\ ", text)  # a plural, as in `tensor`s
        if is_more and text.startswith("- "):
            found.append(f"|     {text}")
        elif is_more:
            found[-1] += f" {text}"
        else:
            is_parameter = re.match(r"\w+(, \w+)*: \S", text) is not None
            found.append(re.sub(r"^(\w+(?:, \w+)*): (?=\S)", r"| **\1**: ", text))
    lines[:] = found


def examples(app):
    """Run the examples of all pages; one that fails, or prints something else, fails the build."""
    import os

    from run_examples import pages, problems
    from sphinx.util import logging

    if os.environ.get("EXAMPLES") == "0":
        return
    for page in pages():
        for problem in problems(page):
            logging.getLogger("examples").warning(problem)


def outside(app, docname, source):
    """Let links to files of the repository lead there: they must exist, and are shown as text."""

    def replaced(found):
        text, target = found[1], found[2]
        path = (Path(app.srcdir) / docname).parent / target.partition("#")[0]
        if path.resolve().is_relative_to(Path(app.srcdir)) or target.startswith(("http", "#")):
            return found[0]
        if not path.exists():
            raise FileNotFoundError(f"{docname} links to {target}, which does not exist")
        return f"{text} (`{path.resolve().relative_to(ROOT)}`)"

    source[0] = re.sub(r"(?<!!)\[([^\]\n]+)\]\(([^)\s]+)\)", replaced, source[0])


def setup(app):
    app.add_lexer("weft", WeftLexer)
    for name in ("mlir", "lark"):
        app.add_lexer(name, PlainLexer)
    app.connect("builder-inited", examples)
    app.connect("source-read", outside)
    app.connect("autodoc-process-docstring", as_rst)
