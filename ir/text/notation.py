"""Parse the text of sizes and types, as the printer writes it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..dims import DATA, LOOP, Monomial, Size, applied, floordiv, from_terms, symbol, terms_of
from ..dtypes import BF16, BOOL, BY_NAME, WEAK
from ..errors import LimitExceeded, ShapeProblem, SyntaxProblem, quantity
from ..types import AxisGroups, Guards, Sizes, TensorType

MOST_AXES = 64  # the most dimensions that NumPy's arrays have
ELEMENTS = {
    "i1": BOOL, "bf16": BF16, "complex<f32>": BY_NAME["c64"], "complex<f64>": BY_NAME["c128"],
    **{f"ui{b}": BY_NAME[f"u{b}"] for b in (8, 16, 32, 64)},
    **{n: BY_NAME[n] for n in ("i8", "i16", "i32", "i64", "f16", "f32", "f64")},
}  # fmt: skip


def parse_type(text: str) -> TensorType:
    """`tensor<...>`, in nests `memref<...>` and `vector<...>`, or `!weft.weak<...>`."""
    weak = re.fullmatch(r"!weft\.weak<(\w+)>", text)
    if weak and weak.group(1) in WEAK:
        return TensorType(WEAK[weak.group(1)])
    match = re.fullmatch(
        r"(tensor|memref|vector)<((?:(?:\?|\d+)x)*)(complex<f\d+>|\w+)(?:,\s*#weft\.dims<(.*)>)?>", text
    )
    if match is None or match.group(3) not in ELEMENTS:
        raise SyntaxProblem(f"not a type: {text}")
    kind, shape, element, named = match.groups()
    if named is None and "?" in shape:
        raise SyntaxProblem(f"{text} has unnamed sizes", hint="name them: tensor<?xf32, #weft.dims<n>>")
    numbers = shape.split("x")[:-1]
    if len(numbers) > MOST_AXES or any(len(s) > MOST_DIGITS for s in numbers):
        raise SyntaxProblem(f"{text[:80]} has too many or too large sizes")
    sizes = parse_sizes(named) if named is not None else tuple(map(int, numbers))
    if len(sizes) != len(numbers) or any(s not in ("?", str(size)) for s, size in zip(numbers, sizes, strict=True)):
        raise SyntaxProblem(f"{text} gives its sizes twice, and they differ")
    return TensorType(ELEMENTS[element], tuple(sizes), kind)


def parse_sizes(text: str) -> Sizes:
    """Parses sizes separated by commas; commas inside parentheses belong to a size."""
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return Sizes(parse_size(p) for p in parts if p.strip())


def parse_axis_groups(texts: Sequence[object]) -> AxisGroups:
    """`["0+1", "2"]`."""
    found = []
    for text in texts:
        if not isinstance(text, str) or re.fullmatch(r"[0-9]{1,4}(\+[0-9]{1,4})*", text) is None:
            raise SyntaxProblem(f"'{text}' is not a group of axes", hint="join axes with " + ': "0+1"')
        found.append(tuple(map(int, text.split("+"))))
    return AxisGroups(found)


def parse_guards(texts: Sequence[object]) -> Guards:
    """`["n == m"]`."""
    found = []
    for text in texts:
        left, equal, right = str(text).partition(" == ")
        if not equal:
            raise SyntaxProblem(f"guard '{text}' is not an equation", hint='write "n == m"')
        found.append((parse_size(left), parse_size(right)))
    return Guards(found)


MOST_DIGITS, MOST_WORDS = 19, 1000  # in a size


def parse_size(text: str) -> Size:
    """Parses what `str` prints for a size, or a sum that a person wrote, such as `2*(@i - -1)`."""
    if text.isascii() and text.isidentifier():
        return symbol(text)
    spaced = text
    for sign in "-+*(),":
        spaced = spaced.replace(sign, f" {sign} ")
    tokens = spaced.split()
    if len(tokens) > MOST_WORDS:
        raise LimitExceeded(f"a size has more than {MOST_WORDS} tokens")
    size, rest = _parse_sum(tokens, 0)
    if rest != len(tokens):
        raise ShapeProblem(f"not a size: '{text}'")
    return size


def _parse_sum(tokens: list[str], at: int) -> tuple[Size, int]:
    total: dict[Monomial, int] = {}
    sign = 1
    while True:
        while at < len(tokens) and tokens[at] == "-":
            sign, at = -sign, at + 1
        term, at = _parse_product(tokens, at)
        for monomial, coefficient in terms_of(term):
            total[monomial] = total.get(monomial, 0) + sign * coefficient
        if at >= len(tokens) or tokens[at] not in "+-":
            return from_terms(total), at
        sign, at = (1 if tokens[at] == "+" else -1), at + 1


def _parse_product(tokens: list[str], at: int) -> tuple[Size, int]:
    total: Size = 1
    while True:
        if at >= len(tokens):
            raise ShapeProblem("unexpected end of a size")
        token = tokens[at]
        at += 1
        factor: Size
        if token.isascii() and token.isdigit():
            if len(token) > MOST_DIGITS:
                raise ShapeProblem(f"the number {token[:MOST_DIGITS]}... does not fit 64 bits")
            factor = int(token)
        elif token == "(":
            factor, at = _parse_sum(tokens, at)
            if at >= len(tokens) or tokens[at] != ")":
                raise ShapeProblem(f"a size has no ')' for its '(': '{' '.join(tokens)}'")
            at += 1
        elif not _is_symbol(token):
            raise ShapeProblem(f"not a size: '{token}'")
        elif at < len(tokens) and tokens[at] == "(":
            args: list[Size] = []
            while tokens[at] != ")":
                arg, at = _parse_sum(tokens, at + 1)
                args.append(arg)
                if at >= len(tokens):
                    raise ShapeProblem("unexpected end of a size")
                if tokens[at] not in ",)":
                    raise ShapeProblem(f"not a size: '{tokens[at]}'")
            at += 1
            factor = _parsed_function(token, args)
        else:
            factor = symbol(token)
        if len(list(terms_of(total))) * len(list(terms_of(factor))) > MOST_WORDS:
            raise LimitExceeded(f"a size has more than {MOST_WORDS} terms")
        total = total * factor
        if at >= len(tokens) or tokens[at] != "*":
            return total, at
        at += 1


def _is_symbol(token: str) -> bool:
    """Tell whether a token names a size: `n`, a loop's `@k`, or `?3_n`, which depends on data."""
    if token.startswith(DATA):
        number, _, token = token[1:].partition("_")
        return number.isascii() and number.isdigit() and len(number) < 10 and f"_{token}".isidentifier() and token != ""
    name = token.removeprefix(LOOP)
    return name[:1].isascii() and name.isidentifier()


def _parsed_function(name: str, args: list[Size]) -> Size:
    if name == "floordiv" and len(args) == 2 and isinstance(args[1], int) and args[1] > 0:
        return floordiv(args[0], args[1])
    if name == "mod" and len(args) == 2 and isinstance(args[1], int) and args[1] > 0:
        return args[0] - args[1] * floordiv(args[0], args[1])
    if name in ("min", "max") and len(args) > 1:
        return applied(name, args)
    if name in ("floordiv", "mod") and len(args) == 2:
        raise ShapeProblem(f"not a size: '{name}' divides by a number of 1 or more, not by '{args[1]}'")
    raise ShapeProblem(f"not a size: '{name}' can't take {quantity(len(args), 'argument')}")
