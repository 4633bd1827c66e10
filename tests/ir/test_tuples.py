"""Test named tuples: they behave like those of `typing`, but are made in less time."""

from __future__ import annotations

import copy
import pickle
import typing
from typing import Any

import pytest
from weft.ir.tuples import NamedTuple


class Place(NamedTuple):
    """A place with a default."""

    name: str
    line: int = 1
    column: int = 1

    @property
    def text(self) -> str:
        return f"{self.name}:{self.line}"


class Reference(typing.NamedTuple):
    name: str
    line: int = 1
    column: int = 1


GIVEN: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    (("a",), {}), (("a", 2), {}), (("a", 2, 3), {}), (("a",), {"column": 4}), ((), {"line": 5, "name": "b"}),
]  # fmt: skip
WRONG: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}), (("a", 1, 1, 1), {}), (("a",), {"name": "b"}), (("a",), {"row": 1}), ((), {"line": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("values", "named"), GIVEN)
def test_they_are_what_those_of_typing_are(values: Any, named: Any) -> None:
    ours, theirs = Place(*values, **named), Reference(*values, **named)
    assert ours == theirs and hash(ours) == hash(theirs) and isinstance(ours, tuple)
    assert (ours.name, ours.line, ours.column) == theirs and [*ours] == [*theirs]
    assert ours._asdict() == theirs._asdict() and ours._replace(line=9) == theirs._replace(line=9)
    assert repr(ours) == repr(theirs).replace("Reference", "Place")
    for again in (pickle.loads(pickle.dumps(ours)), copy.deepcopy(ours), Place._make(theirs)):
        assert again == ours and type(again) is Place


def test_classes_have_what_those_of_typing_have() -> None:
    assert (Place._fields, Place._field_defaults) == (Reference._fields, Reference._field_defaults)
    assert Place.__match_args__ == Reference.__match_args__ and Place.__bases__ == (tuple,)
    assert Place("a").text == "a:1" and Place.__doc__ == "A place with a default."
    with pytest.raises(AttributeError):
        Place("a").name = "b"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        Place("a").other = "b"  # type: ignore[attr-defined]


@pytest.mark.parametrize(("values", "named"), WRONG)
def test_what_does_not_fit_is_refused_as_there(values: Any, named: Any) -> None:
    with pytest.raises(TypeError):
        Reference(*values, **named)
    with pytest.raises(TypeError, match="Place takes name, line, column"):
        Place(*values, **named)
