"""Programs that the fuzzer found, each with what was wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft

from ..differential.arrays import LAYOUTS
from ..differential.comparing import same
from .checking import check
from .inputs import Input


def test_slices_that_are_cut_at_the_ends() -> None:
    """The loop variable was hidden inside the `min` of the start, so every element was the first one."""

    def function(a: Any) -> Any:
        return a[2::-1], a[-2:], a[1:5:2]

    check(function, Input("int64", (7,)).make(), again=[(Input("int64", (2,)).make(),)])
    check(function, Input("int8", (3,)).make(), again=[(Input("int8", (19,)).make(),)])


def test_arguments_named_like_loop_variables() -> None:
    """The size `i0` of an argument `i` was taken for the loop variable of axis 0."""
    check(lambda i: i[:, 1:] * i.shape[0], np.arange(6).reshape(2, 3))


def test_sizes_with_several_choices_read_back() -> None:
    """`min(18, n - 1) - max(-1, n - 1)` was read back as another expression."""
    check(lambda a: a[18:-1:-2], np.arange(5))


def test_a_result_that_numpy_hands_back_twice() -> None:
    """`conj` of bools returns the array itself, and both outputs were one array."""

    def function(a: Any) -> Any:
        b = a == a
        return b, b.conj()

    check(function, np.array([False, True]))


def test_a_size_that_happens_to_be_one_is_asked_to_be_one() -> None:
    """`(n + 2) // 3` is 1 in this call, but did not count as 1."""
    check(lambda a: np.broadcast_to(a[:, ::3], (a.shape[0], 1)), np.array([[False, True]]))


def test_a_dtype_that_says_it_is_none() -> None:
    """`np.dtype("float64") == None` is true, so functions without an own `dtype` dropped it."""
    check(lambda a: np.conjugate(a, dtype=np.dtype("float64")), np.array([False, True]))
    check(lambda a: (np.fabs(a, dtype=np.dtype("float64")), np.sign(a, dtype=np.dtype("float64"))), np.float32([1, -2]))


def test_arrays_without_dimensions_have_an_axis_to_take_and_repeat_along() -> None:
    """They raised an `AxisProblem`, but NumPy treats them as arrays of one element."""
    a = np.array(3)
    check(lambda a: (a.take(0, axis=-1), a.take([0, 0], axis=0), a.repeat(2, axis=0)), a)
    check(lambda a: a.take(0, axis=1), a)
    check(lambda a: np.repeat(a, 2, axis=-2), a)


def test_parts_of_a_truth() -> None:
    """`imag` of a bool scalar was an array without dimensions."""
    check(lambda a: (np.imag(a[()]), np.imag(a), np.real(a[()])), np.array(True))


def test_elements_of_a_vector_that_is_unstacked() -> None:
    """They were arrays without dimensions; in NumPy they are scalars."""
    check(lambda a: np.unstack(a), np.array([True, False, True]))


def test_a_running_product_along_a_tuple_of_one_axis() -> None:
    """It was refused, because `cumprod` refuses it."""
    check(lambda a: np.cumulative_prod(a, axis=(-1,)), np.arange(6).reshape(2, 3))
    check(lambda a: np.cumulative_sum(a, axis=(-3,)), np.arange(6).reshape(2, 3))
    check(lambda a: np.cumulative_sum(a, axis=(0, 1)), np.arange(6).reshape(2, 3))


def test_nan_in_bf16_counts_like_other_numbers() -> None:
    """NumPy does not look for NaN in bf16: `nansum` skips nothing, and an integer `dtype` is accepted."""
    a = np.array([1, np.nan, 3], "bfloat16")
    check(lambda a: (np.nansum(a), np.nancumsum(a), np.nanmean(a), np.nanvar(a), np.nanargmin(a)), a)
    check(lambda a: np.nanstd(a, dtype=np.dtype("int16")), np.array([0, 2], "bfloat16"))
    check(lambda a: np.nanmean(a, dtype=np.dtype("bfloat16")), np.array([0, 2], "float32"))


def test_scalars_that_stay_scalars_and_scalars_that_become_arrays() -> None:
    """The method `copy` made arrays of scalars, and `pad`, `tile` and `broadcast_arrays` kept scalars."""

    def function(a: Any) -> Any:
        b = a[()]
        return b.copy(), np.copy(b), np.pad(b, 0), np.tile(b, ()), *np.broadcast_arrays(b, b), np.flip(a), np.flip(b)

    check(function, np.array(2.5))
    check(function, np.array(True))


def test_memory_order_after_a_call_with_an_empty_result() -> None:
    """An axis that a slice left empty, or with one element, hid the memory order from calls with more elements."""

    def function(a: Any) -> Any:
        b = np.transpose(a, (1, 0, 2))
        return b[:-4], b[1:]

    second = Input("bool", (7, 7, 1)).make()
    check(function, np.zeros((2, 2, 1), bool), again=[(second,)])
    check(function, np.zeros((1, 2, 4), bool), again=[(Input("bool", (1, 7, 5)).make(),)])
    check(function, np.zeros((3, 2, 2), bool)[:, ::-1], again=[(Input("bool", (7, 7, 2)).make()[:, ::-1],)])


def test_a_number_for_twice_a_size_is_one_for_the_size() -> None:
    """`2*n == 16` was a guard, but `16*m == 2*m*n` did not follow from it."""
    check(lambda a: np.unstack(np.tile(a, (2,)), axis=2)[15], np.zeros((1, 2, 8), bool))


def test_a_number_for_a_choice_is_one_inside_products() -> None:
    """`min(1, n) == 1` was a guard, but `2*min(1, n) == 2` did not follow from it."""

    def function(a: Any) -> Any:
        b = np.array_split(a, [1])[0]
        return np.tile(b, (2,)) | b

    check(function, np.array([False, False]))


def test_no_new_axes_make_a_scalar_an_array() -> None:
    """`expand_dims(x, ())` returned a scalar."""
    check(lambda a: np.expand_dims(a, ()), np.bool(False))


def test_repeated_rows_lie_as_numpy_leaves_them() -> None:
    """`astype` puts a repeated axis innermost, a ufunc that converts does not; Weft had one rule for both."""
    for dtype in ("bool", "float32"):
        check(
            lambda a: (
                np.nancumsum(a, axis=-1),
                np.cumsum(a, axis=1, dtype="float64"),
                np.cumsum(a.astype("float64"), axis=1),
                np.nansum(a, axis=1),
                np.mean(a, axis=1),
                np.add(a, a, dtype="complex64"),
                np.concatenate([a, a], dtype="complex64"),
                np.count_nonzero(a, axis=1),
                np.nan_to_num(a),
            ),
            LAYOUTS["repeated rows"](np.zeros((2, 3, 4), dtype)),
        )


def test_what_a_running_sum_starts_from_lies_beside_it() -> None:
    """The zeros before an array in Fortran order changed the memory order of the whole result."""
    check(lambda a: np.cumulative_sum(a, axis=1, include_initial=True), np.zeros((2, 3, 4), order="F"))


def test_seed_20261118_graph_61() -> None:
    """pow of bool[2]: dtype int64 for int8"""
    a = np.array([False], "bool")

    def function(a: Any) -> Any:
        return a ** a.shape[0]

    check(function, a, again=[(np.zeros(2, bool),), (np.ones(3, bool),)])


def test_seed_20261118_graph_251() -> None:
    """NumPy computes it, Weft raises ValueProblem: an argument has a value that is not allowed here"""
    a = np.int8(0)

    def function(a: Any) -> Any:
        b = np.repeat(a, 0)
        return np.take_along_axis(b, b, 0)

    check(function, a)


def test_seed_3_graph_1000119() -> None:
    """the pass 'fuse' failed with VerifyProblem: its gather looks up what is not in memory"""
    a = np.array([False, True], "bool")
    check(lambda a: np.take(np.any(a), 0), a)
    check(lambda a: np.take(a.sum(1, keepdims=True), [0, 0], axis=1), np.arange(6.0).reshape(2, 3))


def test_seed_3_graph_1000168() -> None:
    """NumPy raises ValueError: not enough values to unpack, Weft ZeroDivisionError"""
    for a in (np.array(False), np.arange(3)):
        check(lambda a: np.roll(a, 1, axis=()), a)


def test_seed_3_graph_1000176() -> None:
    """NumPy raises TypeError: `pad_width` must be of integral type., Weft ValueProblem"""
    check(lambda a: np.pad(a, ()), np.array(False))


def test_powers_that_vanish_have_the_sign_of_one_nan() -> None:
    """If LLVM folded `0 * inf`, the NaN had another sign than the CPU's, and so had the zero of `exp`."""
    exponents = np.arange(-128, -96, dtype=np.int8)
    check(lambda a: np.power(complex(float("inf"), 1.0), a), exponents)


def test_steps_as_long_as_rows_are_longer_than_columns_of_longer_rows() -> None:
    """In the first call both axes had the same stride, and the order chosen for it was used for later calls."""
    check(lambda a: np.transpose(a, (2, 0, 1))[::2], np.zeros((1, 2, 2)), again=[(np.zeros((1, 3, 3)),)])
    check(lambda a: np.concat((a[:, 2:5:3], a[:, 2:5:3]), axis=1), np.zeros((2, 2)), again=[(np.zeros((3, 3)),)])


def test_products_of_one_element_have_the_signs_of_blas() -> None:
    """NumPy multiplies single elements for BLAS dtypes after conversion, and adds others to 0; `vdot` always adds."""

    def products(a: Any, b: Any, c: Any, d: Any) -> Any:
        pairs = ((a, b), (b, a), (c, b), (a, c), (d, b), (c, c))
        found = [f(x, y) for f in (np.dot, np.inner, np.vdot, np.kron, np.outer) for x, y in pairs]
        return (*found, *(np.tensordot(x, y, k) for x, y in pairs for k in (0, 1)), np.einsum("i,i", a, b))

    jitted = weft.jit(products)
    for first, second in (("f8", "f8"), ("f8", "i8"), ("i2", "f4"), ("f2", "f2"), ("f2", "i1"), ("c8", "f4")):
        shapes = ((1,), (1,), (1, 1), (1, 1, 1))
        args = [np.full(s, -1 + (k & 1)).astype(second if k & 1 else first) for k, s in enumerate(shapes)]
        same(jitted(*args), products(*args))


def test_axes_and_constants_that_numpy_refuses() -> None:
    """`unstack` raised a `TypeError` for a tuple of one axis, and `pad` wrapped constants that do not fit i64."""
    a = np.arange(3, dtype=np.int8)

    def unstacked(axis: Any) -> Any:
        return lambda a: np.unstack(a, axis=axis)

    def padded(number: Any) -> Any:
        return lambda a: np.pad(a, 1, constant_values=number)

    for axis in ((0,), (-2,), (0, 0)):
        check(unstacked(axis), a)
    for number in (300, -129, 127, 1e10, -128.5, float("nan"), float("inf"), (1, 300), np.int64(200), True):
        check(padded(number), a)
    check(padded(300), a.astype(np.uint8))
    jitted = weft.jit(lambda a, number: np.pad(a, 1, constant_values=number))
    same(jitted(a, 100), np.pad(a, 1, constant_values=100))
    with pytest.raises(OverflowError):
        jitted(a, 200)


def test_views_of_python_bools_are_arrays() -> None:
    """They were NumPy bools, while views of other Python numbers were arrays."""
    for flag in (True, np.True_, np.array(True)):
        check(lambda a: (np.transpose(a), np.squeeze(a), np.reshape(a, ()), np.moveaxis(a, (), ())), flag)


def test_zeros_that_meet_python_numbers_have_the_stated_sign() -> None:
    """The reference chose zeros like NumPy before promotion, when 0 was still a Python integer."""
    a = np.array([0.0] * 8 + [-0.0], "float32").reshape(3, 3)
    check(lambda a: (np.fmin(a, 0), np.minimum(0, a), np.fmax(a, 0), np.maximum(0, a)), a)


def test_conversions_to_another_byte_order_go_on() -> None:
    """The oracle compared byte orders, which values inside a graph do not have."""
    check(lambda a: np.real(a.astype(np.dtype(">f8"))), np.array(1.5))


def test_peeling_by_an_operand_that_is_read_through_a_view() -> None:
    a = np.array([0, 0], "int8")

    def function(a: Any) -> Any:
        return np.all(a[None])

    check(function, a)


def test_limits_that_have_no_common_dtype_with_the_array() -> None:
    """`clip` of i32 between bf16 limits was refused; NumPy compares as f64."""
    check(lambda a, b: (b.clip(a, None), b.clip(a, a)), np.array(0.0, "bfloat16"), np.arange(3, dtype="int32"))


def test_sizes_that_become_constants_are_no_facts() -> None:
    """A guard on the size of a slice that is empty made its type another one."""
    check(lambda a: np.concat((a.T[:-7][-2:-1, 2:],) * 2, axis=1), np.zeros((1, 2, 2), "bool"))


def test_sizes_that_a_guard_settles_are_settled_everywhere() -> None:
    """A size of at most 1 that a guard on the memory order knows was known to some passes only."""
    check(lambda a: a[-6:7:1, 0].T[:, :1], np.zeros((2, 1, 2), "bool"))


def test_sizes_that_a_piece_settles_count_in_the_joined_size() -> None:
    """The size along the axis was added up before the other axes had been compared, which says that it is 1."""

    def function(a: Any) -> Any:
        b = np.transpose(a[:-2:2], (1, 0, 2))
        return np.dstack((np.transpose(b, (0, 2, 1)), b))

    check(function, np.zeros((3, 1, 1), "bool"))


def test_captured_integers_in_another_byte_order() -> None:
    """They were taken for a number that has to fit the declared dtype."""
    a = LAYOUTS["byte-swapped"](np.array([0], "int32"))
    check(lambda b: np.atan2(a, b), np.array(False))


def test_gathers_that_read_nothing() -> None:
    """The reference checked indices of an empty `take`, which NumPy does not."""
    check(lambda a: np.take(a, [-7], axis=-1), np.zeros((1, 1), "bool"), again=[(np.zeros((0, 0), "bool"),)])


def test_takes_from_nothing() -> None:
    """An empty axis was noticed when the graph ran, after errors of later lines; an empty list was one of floats."""
    both = lambda a: (np.take(a, 0), np.reshape(a, (4,)))  # noqa: E731
    check(both, np.zeros(1, "bool"), again=[(np.zeros(0, "bool"),)])
    for mode in ("raise", "wrap", "clip"):
        check(lambda a, mode=mode: np.take(a, [0, 1], mode=mode), np.ones(3), again=[(np.zeros(0),), (np.zeros(3),)])
    check(lambda a: np.take(a, []), np.ones(3), again=[(np.zeros(0),)])
    check(lambda a: np.take(a, [0], axis=1), np.ones((2, 3, 4)), again=[(np.zeros((2, 0, 0)),), (np.zeros((0, 0, 3)),)])


def test_stacks_of_products_keep_their_memory_order() -> None:
    """Where only the vectors have a stack axis, the axis became rows of a matrix and moved outwards."""
    a, b = np.zeros((2, 2, 1), "bool"), np.zeros((2, 2, 2, 2), "float32")
    check(lambda a, b: (np.matvec(a, a), np.vecmat(b, b[0]), b[0] @ b), a, b)
    turned = np.asfortranarray(np.arange(18, dtype="int32").reshape(2, 3, 3))
    check(lambda a: (np.vecmat(a, a[0]), np.vecmat(a, a[0].T)), turned)


def test_sizes_without_a_settled_part_keep_their_form() -> None:
    """Looking for settled parts wrote `-max(0, n - 1)` as `min(1 - n, 0)`, which no guard spoke of."""

    def function(a: Any) -> Any:
        b = a[-1:16:2]
        return b // b[0:1], np.ptp(b[0:1])

    check(function, np.array([0, 0], "int8"))


def test_guards_that_imply_others_after_a_size_is_known() -> None:
    """Pairs of equal sizes were not looked at again when a quotient in them became a number."""

    def function(a: Any) -> Any:
        b = a[:, ::3, :-2]
        return np.reshape(b, (17, b.shape[1], 5))

    check(function, np.zeros((17, 2, 7), "bool"))
    check(lambda a: np.roll(a.reshape((-1, 7)), 2, axis=0), np.zeros(7, "bool"))


def test_keywords_that_methods_do_not_take() -> None:
    """The functions of these names take them, or they were dropped because they say nothing new."""
    x = np.arange(6.0).reshape(2, 3)
    for name, given in {
        "std": {"correction": 1}, "var": {"correction": 1}, "argmax": {"where": True}, "sum": {"copy": True},
        "clip": {"a_min": 0, "a_max": 1}, "squeeze": {"device": None}, "round": {"where": True}, "mean": {"ddof": 0},
    }.items():  # fmt: skip
        check(lambda x, name=name, given=given: getattr(x, name)(**given), x)
    check(lambda x: x.clip(0, 1, max=2), x)


def test_limits_of_bfloat16() -> None:
    """A weak limit made f64 of bf16, whose numbers NumPy clips in f32."""
    x, flags = np.zeros(2, "bfloat16"), np.ones(2, "bool")
    check(lambda x: (np.clip(x, x, -1.5), np.clip(x, -1, 0.5)), x)
    check(lambda flags, x: np.clip(flags, 1, x), flags, x)
