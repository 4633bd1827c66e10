"""Test kernels on labelled arrays. The classes have the names and attributes of pandas' and xarray's that are used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft

KERNELS = weft.compile("""
kernel doubled(x: f64[n]) -> (f64[n], f64) { return 2 * x, sum(x) }
kernel product(x: f64[n], y: f64[n]) = x * y
kernel scaled(x: f64[n, m], w: f64[m]) -> f64[n, m] = x * w
""")


class Index(list):  # type: ignore[type-arg]
    def equals(self, other: Any) -> bool:
        return self == other


class Labelled:
    """What pandas and xarray have in common."""

    def __init__(self, values: Any, **labels: Any) -> None:
        self.values = np.asarray(values)
        self.__dict__.update(labels)

    shape = property(lambda self: self.values.shape)
    ndim = property(lambda self: self.values.ndim)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        return "its own operator"

    def __mul__(self, other: Any) -> Any:
        return "its own operator"


Series = type("Series", (Labelled,), {"__module__": "pandas.core", "name": None})
DataFrame = type("DataFrame", (Labelled,), {"__module__": "pandas.core"})
DataArray = type("DataArray", (Labelled,), {"__module__": "xarray.core", "name": None, "coords": None})


def series(*labels: str, name: str | None = None) -> Any:
    return Series(np.arange(1.0, 1 + len(labels)), index=Index(labels), name=name)


def test_pandas() -> None:
    a, b = series("p", "q", name="v"), series("p", "q", name="w")
    made, total = KERNELS.doubled(a)
    assert type(made) is Series and (made.index, made.name, [*made.values]) == (a.index, "v", [2, 4]) and total == 3
    assert KERNELS.product(a, a).name == "v" and KERNELS.product(a, y=b).name is None
    assert type(KERNELS.product(a, np.ones(2))) is Series
    assert type(KERNELS.product(a, a, out=np.empty(2))) is np.ndarray
    frame = DataFrame(np.ones((3, 2)), index=Index("abc"), columns=Index("pq"))
    made = KERNELS.scaled(frame, a)
    assert type(made) is DataFrame and (made.index, made.columns) == (frame.index, frame.columns)
    for wrong in (lambda: KERNELS.product(a, series("q", "p")), lambda: KERNELS.scaled(frame, series("q", "p"))):
        with pytest.raises(ValueError, match="different labels"):
            wrong()


def test_xarray() -> None:
    def array(*dims: str, **indexes: Any) -> Any:
        return DataArray(np.ones((2, 2)[: len(dims)]), dims=dims, indexes=indexes)

    one = array("t", t=Index([1, 2]))
    made = KERNELS.product(one, array("t", t=Index([1, 2])))
    assert type(made) is DataArray and made.dims == ("t",)
    for other in (array("t", t=Index([2, 3])), array("u", t=Index([1, 2])), array("t")):
        with pytest.raises(ValueError, match="different labels"):
            KERNELS.product(one, other)


def test_calls_with_other_arrays_do_not_switch_native_code_off() -> None:
    @weft.jit
    def doubled(x: Any) -> Any:
        return x * 2

    given = [series("p"), np.ma.ones(2)]
    for _ in range(6):
        assert [type(doubled(x)) for x in given] == [str, np.ma.MaskedArray]
    x = np.ones(3)
    for _ in range(3):
        np.testing.assert_array_equal(doubled(x), 2 * x)
    assert len(doubled.signature_cache) == 1
    assert "pandas Series, which has its own operators" in str(doubled.explain())
