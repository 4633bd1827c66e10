"""Test records: frozen values that are made, compared, copied and shown by their fields."""

from __future__ import annotations

import copy
import pickle
from typing import ClassVar

import pytest
from weft.ir.records import fields, fresh, is_record, record, replace


@record
class Point:
    """A value with defaults of both kinds."""

    x: int
    y: int = 2
    notes: list[str] = fresh(default_factory=list)
    name: ClassVar[str] = "point"


@record
class One:
    x: object


@record
class Nothing:
    name: ClassVar[str] = "nothing"


@record(eq=False)
class Own:
    x: int


def test_fields_are_given_in_order_by_name_or_by_default() -> None:
    assert (Point(1).x, Point(1).y, Point(1).notes) == (1, 2, [])
    assert Point(1, 5, ["a"]) == Point(y=5, notes=["a"], x=1) == Point(1, 5, notes=["a"])
    assert Point(1).notes is not Point(1).notes
    assert Point.name == Point(1).name == "point"
    assert One(...).x is ...
    assert fields(Point(1)).keys() == fields(Point).keys() == {"x", "y", "notes"}
    assert fields(Point)["x"] is ... and fields(Point)["y"] == 2 and not fields(Nothing())
    assert is_record(Point) and is_record(Point(1)) and not is_record(1)


@pytest.mark.parametrize(
    "given", [((), {}), ((1, 2, [], 4), {}), ((1,), {"x": 1}), ((1,), {"z": 1}), ((), {"y": 1})], ids=str
)
def test_what_does_not_fit_the_fields_is_refused(given: tuple[tuple[int, ...], dict[str, int]]) -> None:
    with pytest.raises(TypeError, match="Point takes x, y, notes"):
        Point(*given[0], **given[1])  # type: ignore[arg-type]


def test_values_can_not_be_changed() -> None:
    point = Point(1)
    with pytest.raises(AttributeError, match="Point is frozen: can't change 'x'"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError, match="frozen"):
        del point.x
    with pytest.raises(AttributeError, match="frozen"):
        point.other = 2  # type: ignore[attr-defined]
    assert replace(point, x=3) == Point(3) and point == Point(1)


def test_values_are_equal_by_their_fields_and_only_to_their_own_kind() -> None:
    nan = float("nan")
    assert One(1) == One(1) != One(2) and hash(One((1, 2))) == hash(One((1, 2)))
    assert One(nan) == One(nan), "an object is equal to itself, as in tuples"
    assert One(1) != (1,) and One(1) != Own(1)
    assert Own(1) != Own(1) and len({Own(1), Own(1)}) == 2
    assert Nothing() == Nothing()


def test_values_are_shown_and_copied_by_their_fields() -> None:
    assert repr(Point(1)) == "Point(x=1, y=2, notes=[])" and repr(Nothing()) == "Nothing()"
    for again in (pickle.loads(pickle.dumps(Point(1))), copy.copy(Point(1)), copy.deepcopy(Point(1))):
        assert again == Point(1) and type(again) is Point
    match Point(1, 7):
        case Point(x, y):
            assert (x, y) == (1, 7)
