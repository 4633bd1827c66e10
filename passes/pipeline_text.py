"""Convert pipelines to text such as `promote-dtypes,fuse{rows=false}`, and parse such text.

Options are in braces, separated by spaces; options that are left out keep the value of the known pass.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from ..ir.errors import SyntaxProblem, UnknownName, ValueProblem, nearest
from ..ir.records import fields, is_record, replace


class NamedPass(Protocol):
    @property
    def name(self) -> str: ...


P = TypeVar("P", bound=NamedPass)
_PASS = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:\{([^{}]*)\})?\s*(,|$)")


def parse_pipeline(text: str, known: Sequence[P]) -> tuple[P, ...]:
    """The passes that a text names, each one from `known` with the options of the text."""
    by_name = {p.name: p for p in known}
    found: list[P] = []
    at, more = 0, bool(text.strip())
    while more:
        match = _PASS.match(text, at)
        if match is None:
            raise SyntaxProblem(
                f"can't parse pipeline '{text}' at column {at + 1}",
                hint="write passes such as canonicalize,fuse{option=1}",
            )
        name, options, end = match.groups()
        if name not in by_name:
            hint = nearest(name, list(by_name)) or f"the passes are {', '.join(by_name)}"
            raise UnknownName(f"unknown pass '{name}'", hint=hint)
        found.append(_with_options(by_name[name], options or ""))
        at, more = match.end(), end == ","
    return tuple(found)


def pipeline_text(passes: Sequence[NamedPass]) -> str:
    """Write the text from which `parse_pipeline` reads these passes."""
    return ",".join(_pass_text(p) for p in passes)


def _pass_text(step: NamedPass) -> str:
    shown = []
    for name, value in _options(step).items():
        if value != fields(step)[name]:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            shown.append(f"{name.replace('_', '-')}={text}")
    return step.name + (f"{{{' '.join(shown)}}}" if shown else "")


def _options(step: NamedPass) -> dict[str, Any]:
    """The fields that text can set: bools, numbers and words."""
    if not is_record(step):
        return {}
    values = {name: getattr(step, name) for name in fields(step)}
    return {name: value for name, value in values.items() if isinstance(value, (bool, int, float, str))}


def _with_options(step: P, text: str) -> P:
    known, given = _options(step), {}
    for item in text.split():
        key, equals, value = item.partition("=")
        name = key.replace("-", "_")
        if name not in known:
            hint = nearest(name, list(known)) or f"its options are {', '.join(known) or 'none'}"
            raise UnknownName(f"the pass '{step.name}' has no option '{key}'", hint=hint)
        given[name] = _value(step.name, key, value if equals else "true", type(known[name]))
    made = replace(step, **given) if given else step
    if given and hasattr(made, "check_options"):  # options whose values need more than a type
        made.check_options()
    return made


def _value(step: str, key: str, text: str, kind: type) -> object:
    if kind is bool and text in ("true", "false"):
        return text == "true"
    try:
        if kind is not bool:
            return kind(text)
    except ValueError:
        pass
    expected = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
    raise ValueProblem(f"option '{key}' of '{step}' must be {expected}, not '{text}'")
