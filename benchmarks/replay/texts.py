"""Emit a kernel's LLVM text in each of its forms, with values and labels renumbered so that texts can be compared."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping

from weft.backends.llvm.engine.target import x86
from weft.ir import dims
from weft.ir.dims import Size
from weft.ir.errors import WeftError
from weft.runtime.compiler import Lowered, Options

from .cases import Kernel

LEVELS = {"avx2": 3, "avx512": 4}
MOST_FORMS = 24
ANY = "library "  # the form that serves all sizes, found from these
_NAME = re.compile(r"%[a-z]+\d+\b|\b[a-z]+\d+(?=:)")


def texts(kernel: Kernel, level: str, wanted: list[str] | None = None) -> Iterator[tuple[str, str]]:
    """Return the text of each form by sizes such as `m=8,n=64`, or only for the sizes asked for."""
    options = Options(target=x86(LEVELS[level]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            args = kernel.args()
            lowered, sizes = kernel.make(options).sized(*args, out=kernel.out(args))
        except WeftError as error:
            yield "", f"refused: {type(error).__name__}"
            return
    if wanted is not None:
        for name in wanted:
            form = lowered.for_sizes(_parsed(name.removeprefix(ANY)))
            yield name, text_of(_whole(form, name.removeprefix(ANY)) if name.startswith(ANY) else form)
        return
    libraries: set[str] = set()
    for env in _envs(lowered, sizes):
        form = lowered.for_sizes(env)
        yield _shown(env), text_of(form)
        whole = _whole(form, _shown(env))
        if (guards := str(whole.guards)) not in libraries:
            libraries.add(guards)
            yield ANY + _shown(env), text_of(whole)


def _whole(form: Lowered, sizes: str) -> Lowered:
    return form.for_any_size(_parsed(sizes))


def _shown(env: Mapping[str, int]) -> str:
    return ",".join(f"{name}={number}" for name, number in sorted(env.items()))


def _parsed(text: str) -> dict[str, int]:
    pairs = (each.split("=") for each in text.split(",") if each)
    return {name: int(number) for name, number in pairs}


def text_of(lowered: Lowered) -> str:
    """Return the text, followed by the description that callers of the code get."""
    program, lines = lowered.program, list[str]()
    for function in program.functions:
        lines += [f"; {entry}" for entry in function.entries]
        lines += [f"; {p.name} {p.extents} {p.grains} {p.unit} {p.tile}" for p in function.parts]
        when = f"chunks from {function.cut_from} of {function.columns}" if function.chunks else "no chunks"
        lines.append(f"; {len(function.whole)} whole, {when}, {'may fail' * function.may_fail}")
    guards = sorted({f"; {left} == {right}" for left, right in lowered.guards if not isinstance(right, int)})
    return "\n".join([_renumbered(program.text), *lines, *guards])


def _renumbered(text: str) -> str:
    """Number values and labels in the order in which they first appear in a function."""
    return re.sub(r"^define .*?^}", lambda function: _renumbered_function(function[0]), text, flags=re.M | re.S)


def _renumbered_function(text: str) -> str:
    names: dict[str, str] = {}

    def renamed(match: re.Match[str]) -> str:
        name = match[0].removeprefix("%")
        new = names.setdefault(name, f"x{len(names)}")
        return f"%{new}" if match[0][0] == "%" else new

    return _NAME.sub(renamed, text)


def _envs(lowered: Lowered, sizes: Mapping[str, int]) -> list[dict[str, int]]:
    """Return sizes for each form, found by breaking the guards of the forms found before."""
    found: list[tuple[Lowered, dict[str, int]]] = []
    pending = [dict(sizes)]
    while pending and len(found) < MOST_FORMS:
        env = pending.pop(0)
        if any(_hold(form.guards, env) for form, _ in found):
            continue
        form = lowered.for_sizes(env)
        found.append((form, env))
        for left, right in form.guards:
            moved = (each for each in _moved(left, right, env) if not _hold([(left, right)], each))
            pending += [each for each in moved if _hold(lowered.assumptions, each)][:1]
    return [env for _, env in found]


def _hold(guards: list[tuple[Size, Size]], env: Mapping[str, int]) -> bool:
    known = [g for g in guards if dims.symbols(g[0]) | dims.symbols(g[1]) <= env.keys()]
    return all(dims.evaluate(left, env) == dims.evaluate(right, env) for left, right in known)


def _moved(left: Size, right: Size, env: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Vary one size around the bounds in a guard, then make several sizes large or small together."""
    names = sorted(dims.symbols(left) | dims.symbols(right))
    if not env.keys() >= set(names):  # what a NumPy function between two pieces gives is known when it has run
        return
    numbers = sorted({abs(n) for size in (left, right) for n in _constants(size)})
    for name in names:
        others = max(1, dims.evaluate(dims.product(dims.symbol(n) for n in names if n != name), {**env}))
        for number in numbers:
            for value in (number // others - 1, number // others + 1, number - 1, number + 1, number):
                if value > 1:
                    yield {**env, name: value}
    for value in (2, 5, 7, 20, 4096):
        yield {**env, **dict.fromkeys(names, value)}


def _constants(size: Size) -> Iterator[int]:
    if isinstance(size, int):
        yield size
        return
    for monomial, factor in size.terms:
        yield factor
        for atom in monomial:
            for arg in atom.args:
                yield from _constants(arg)
