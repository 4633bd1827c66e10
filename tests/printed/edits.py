"""Run edited dumps between guard pages in a separate process: a read or write outside of an array kills it.

    python edits.py FIRST COUNT

Each edit prints a line: refused (with a typed error), same (bits) or other (it changed the meaning). Any other error
ends the process with status 1.
"""

from __future__ import annotations

import random
import re
import signal
import sys
from typing import Any

import numpy as np
import weft
from weft.frontend.printed import PrintedKernel
from weft.ir import dims
from weft.runtime import launch, outputs, size_bound

sys.path.insert(0, __file__.rpartition("/printed/")[0])
from differential.guarded import Fence, put  # type: ignore[import-not-found]
from printed.dumps import ARGUMENTS, bits, kernels  # type: ignore[import-not-found]

NUMBERS = ("0", "1", "2", "3", "4", "5", "7", "8", "16", "17", "64", "1000", "-1", "-2", "1099511627776")
SECONDS = 20


def edited(text: str, choice: random.Random) -> str:
    """Make one to three edits; many apply to the whole text, because types must agree."""
    for _ in range(choice.choice((1, 1, 2, 3))):
        text = choice.choice(EDITS)(text, choice)
    return text


def _replaced(pattern: str, text: str, choice: random.Random, by: Any) -> str:
    """Replace one match, or all equal ones, by another text."""
    found = list(re.finditer(pattern, text))
    if not found:
        return text
    match = choice.choice(found)
    new = by(match)
    if choice.random() < 0.4:
        return text.replace(match[0], new)
    return text[: match.start()] + new + text[match.end() :]


def number(text: str, choice: random.Random) -> str:
    return _replaced(r"(?<= )-?\d+(?= : i64|[,>\]])", text, choice, lambda m: choice.choice(NUMBERS))


def size(text: str, choice: random.Random) -> str:
    def changed(match: re.Match[str]) -> str:
        sizes = match[1].split(", ")
        k = choice.randrange(len(sizes))
        other = choice.choice(("n", "m", "k", "q", "1", "0", "3", "9", "n*m", "2*n", "max(0, n - 9)"))
        sizes[k] = choice.choice((other, f"{sizes[k]} + 1", f"{sizes[k]} - 1", f"{sizes[k]} + 1000", f"2*{sizes[k]}"))
        return f"#weft.dims<{', '.join(sizes)}>"

    return _replaced(r"#weft\.dims<([^<>]*)>", text, choice, changed)


def symbol(text: str, choice: random.Random) -> str:
    """Replace one dimension by another everywhere."""
    old, new = choice.sample(("n", "m", "k"), 2)
    return re.sub(rf"\b{old}\b(?=[^<>\"]*>)", new, text)


def word(text: str, choice: random.Random) -> str:
    words = re.findall(r'"[^"\n]*"', text)
    return _replaced(
        r'(?<!% )"[^"\n]*"', text, choice, lambda m: choice.choice((*words, '"zz"', '"C"', '"general"', '"0+1"'))
    )


def operand(text: str, choice: random.Random) -> str:
    values = re.findall(r"%\w+", text)
    return _replaced(r"%\w+(?=[,)])", text, choice, lambda m: choice.choice(values))


def kind(text: str, choice: random.Random) -> str:
    return _replaced(
        r"(?<=x)f32(?=[,>])|(?<=x)f64(?=[,>])|(?<=<)i64(?=>)",
        text,
        choice,
        lambda m: choice.choice(("f32", "f64", "i64", "i1")),
    )


def attribute(text: str, choice: random.Random) -> str:
    """Drop an attribute, or replace it by one of another operation."""
    pattern = r", \w+ = (?:\[[^\]]*\]|array<[^>]*>|#weft\.dims<[^>]*>|\"[^\"]*\"|[\w.-]+ : \w+|\w+)"
    all_of_them = re.findall(pattern, text)
    return _replaced(
        pattern,
        text,
        choice,
        lambda m: choice.choice(("", "", choice.choice(all_of_them), m[0] + choice.choice(all_of_them))),
    )


def guards(text: str, choice: random.Random) -> str:
    return re.sub(r", guards = \[[^\]]*\]", "", text)


def line(text: str, choice: random.Random) -> str:
    lines = text.split("\n")
    k = choice.randrange(2, len(lines))
    lines[k : k + 1] = choice.choice(([], [lines[k]] * 2, [lines[choice.randrange(len(lines))]]))
    return "\n".join(lines)


EDITS = (number, number, number, size, size, symbol, word, operand, kind, attribute, attribute, guards, line)


def arguments(kernel: PrintedKernel, name: str, choice: random.Random) -> list[Any]:
    """Make arguments as the kernel declares them, between guard pages; its usual arguments if they fit."""
    usual = ARGUMENTS[name]()
    env: dict[str, int] = {}
    for type_, x in zip(kernel.types, usual, strict=False):
        if len(type_.shape) == np.ndim(x):
            env |= {str(s): n for s, n in zip(type_.shape, np.shape(x), strict=True) if dims.is_symbol(s)}
    if choice.random() < 0.3:
        env = {name: choice.choice((0, 1, 2, 3, 8, 33)) for name in env}
    found = []
    for k, type_ in enumerate(kernel.types):
        shape = tuple(dims.evaluate(s, {**dict.fromkeys(dims.symbols(s), 5), **env}) for s in type_.shape)
        if any(n < 0 or n > 5000 for n in shape):
            raise weft.errors.ValueProblem("no such array")
        x = (
            usual[k]
            if k < len(usual) and np.shape(usual[k]) == shape
            else np.arange(np.prod(shape, dtype=int)).reshape(shape) % 5
        )
        if not shape:
            found.append(x if type_.dtype.weak else np.asarray(x).astype(type_.dtype.numpy)[()])
            continue
        how = "F" if kernel.layouts is not None and kernel.layouts[k] == "F" else "C"
        found.append(put(Fence(), np.asarray(x).astype(type_.dtype.numpy), how, choice.random() < 0.5))
    return found


def fenced(shape: tuple[int, ...], dtype: Any, order: Any = None) -> Any:
    """Allocate memory for results right before a guard page."""
    count = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if count > 1 << 24:
        raise MemoryError
    made = Fence(count // 4096 + 1).array(
        shape if order is None else tuple(shape[k] for k in order), np.dtype(dtype).str, True
    )
    return made if order is None else made.transpose(np.argsort(order))


def attempt(number: int, texts: dict[str, list[str]], expected: dict[str, list[bytes]]) -> str:
    choice = random.Random(number)
    name = choice.choice(list(texts))
    text = edited(choice.choice(texts[name]), choice)
    try:
        kernel = weft.compile(text)
        if not hasattr(kernel, "lower"):
            return "refused"
        args = arguments(kernel._source, name, choice)
        with np.errstate(all="ignore"):
            result = kernel(*args)
    except (weft.errors.WeftError, MemoryError) as error:
        assert "this is a bug in Weft" not in str(error), text
        return "refused"
    return "same" if bits(result) == expected[name] else "other"


def main(first: int, count: int) -> None:
    module = kernels()
    texts, expected = {}, {}
    for name, make in ARGUMENTS.items():
        lowered = module[name].lower(*make())
        texts[name] = [lowered.ir(after=after) for after in ("input", "fuse", *lowered.passes[-2:], lowered.passes[-1])]
        expected[name] = bits(module[name](*make()))
    for part in (launch, outputs, size_bound):
        part.empty = fenced
    for k in range(first, first + count):
        print(k, end=" ", flush=True)
        signal.alarm(SECONDS)
        print(attempt(k, texts, expected), flush=True)
        signal.alarm(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
