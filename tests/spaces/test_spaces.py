# SPDX-License-Identifier: MIT
# Gymnasium types its spaces partially:
# pyright: reportUnknownVariableType=false
"""What holds for every space: properties over random spaces, alone and nested."""

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces.utils import flatdim, flatten, flatten_space, unflatten
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate
from hypothesis import given, settings
from hypothesis import strategies as st

import compiler_gym.spaces
from compiler_gym.spaces import (
    ActionSpace,
    Box,
    Commandline,
    CommandlineFlag,
    Dict,
    Discrete,
    FreeBox,
    MultiBinary,
    MultiDiscrete,
    NamedDiscrete,
    Opaque,
    Permutation,
    Scalar,
    Sequence,
    SpaceSequence,
    Tuple,
    to_plain,
)
from tests.stand_ins import stand_in

names = st.sampled_from(["a", "b", "passes"])
seeds = st.integers(0, 2**31)
words = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=6)
integer_types = st.sampled_from([np.int8, np.int32, np.int64, np.uint8, np.uint64])
size_ranges = st.tuples(st.integers(0, 3), st.one_of(st.none(), st.integers(3, 6)))


@st.composite
def integer_bounds(draw: st.DrawFn) -> tuple[int, int, Any]:
    dtype = draw(integer_types)
    limits = np.iinfo(dtype)
    low, high = sorted(draw(st.lists(st.integers(limits.min, limits.max), min_size=2, max_size=2)))
    return low, high, dtype


@st.composite
def integer_boxes(draw: st.DrawFn) -> Box:
    low, high, dtype = draw(integer_bounds())
    shape = draw(st.sampled_from([(), (1,), (3,), (2, 2), (0,)]))
    return Box(low, high, draw(names), shape, dtype)


@st.composite
def float_boxes(draw: st.DrawFn) -> Box:
    low = draw(st.sampled_from([-np.inf, -2.5, 0.0]))
    high = draw(st.sampled_from([0.0, 1.5, np.inf]))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    return Box(low, high, draw(names), draw(st.sampled_from([(), (2,), (1, 3)])), dtype)


@st.composite
def free_boxes(draw: st.DrawFn) -> FreeBox:
    low, high, dtype = draw(integer_bounds())
    shape = draw(st.sampled_from([(-1,), (-1, 2), (2, -1), (-1, -1)]))
    return FreeBox(low, high, draw(names), shape, dtype)


@st.composite
def integer_scalars(draw: st.DrawFn) -> Scalar:
    low, high, dtype = draw(integer_bounds())
    return Scalar(
        draw(names), draw(st.sampled_from([None, low])), draw(st.sampled_from([None, high])), dtype
    )


@st.composite
def float_scalars(draw: st.DrawFn) -> Scalar:
    low, high = draw(st.sampled_from([None, -1.0])), draw(st.sampled_from([None, 0.5]))
    return Scalar(draw(names), low, high, draw(st.sampled_from([np.float32, np.float64])))


@st.composite
def named_discretes(draw: st.DrawFn) -> NamedDiscrete:
    return NamedDiscrete(draw(st.lists(words, min_size=1, max_size=5, unique=True)), draw(names))


@st.composite
def commandlines(draw: st.DrawFn) -> Commandline:
    flags = draw(st.lists(words, min_size=1, max_size=5, unique=True))
    return Commandline([CommandlineFlag(f"f{f}", f, "") for f in flags], draw(names))


def permutations() -> st.SearchStrategy[Permutation]:
    def make(name: str, first: int, size: int) -> Permutation:
        return Permutation(name, Scalar(name, first, first + size - 1, int))

    return st.builds(make, names, st.integers(-3, 3), st.integers(1, 5))


scalars = st.one_of(
    integer_scalars(), float_scalars(), st.builds(stand_in(lambda n: Scalar(n, dtype=bool)), names)
)
sequences = st.one_of(
    st.builds(Sequence, names, size_ranges, st.sampled_from([bytes, str, int, float, bool])),
    st.builds(stand_in(lambda n, k: Sequence(n, (k, k), np.int32)), names, st.integers(1, 3)),
)
flat_leaves = st.one_of(
    integer_boxes(),
    float_boxes(),
    scalars,
    named_discretes(),
    commandlines(),
    permutations(),
    st.builds(Discrete, st.integers(1, 9), names, st.integers(-4, 4)),
    st.builds(MultiDiscrete, st.lists(st.integers(1, 4), min_size=1, max_size=3), names),
    st.builds(MultiBinary, st.integers(1, 4), names),
)
leaves = st.one_of(
    flat_leaves, free_boxes(), sequences, st.builds(Opaque, names, st.sampled_from(["json", "x"]))
)


def nested(items: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = st.sampled_from(["k", "l", "m"])
    return st.one_of(
        st.builds(Dict, st.dictionaries(keys, items, min_size=1), names),
        st.builds(Tuple, st.lists(items, min_size=1, max_size=3), names),
    )


flat_spaces = st.recursive(flat_leaves, nested, max_leaves=4)
spaces = st.recursive(
    leaves,
    lambda items: st.one_of(nested(items), st.builds(SpaceSequence, names, items, size_ranges)),
    max_leaves=4,
)


def same(one: Any, two: Any) -> bool:
    return to_plain(one) == to_plain(two)


ODD: list[Any] = [
    None,
    "x",
    "",
    b"x",
    object(),
    2**80,
    -(2**80),
    1.5,
    float("nan"),
    float("inf"),
    1j,
    [],
    (),
    {},
    [[1], [2, 3]],
    [None],
    ["a", 1],
    [2**80],
    {1, 2},
    np.array(None),
    np.array("x"),
    np.array(["x"]),
    np.array([None]),
    np.array(1.5),
    np.datetime64("2020-01-01"),
    np.zeros((2, 0)),
    {"k": object()},
    ActionSpace,
]


@given(spaces, seeds)
@settings(deadline=None)
def test_a_space_contains_what_it_samples(space: Any, seed: int) -> None:
    space.seed(seed)
    for _ in range(3):
        sample = space.sample()
        assert space.contains(sample)
        assert sample in space


@given(spaces, seeds)
@settings(deadline=None)
def test_the_same_seed_gives_the_same_samples(space: Any, seed: int) -> None:
    other = copy.deepcopy(space)
    space.seed(seed)
    other.seed(seed)
    assert same([space.sample() for _ in range(3)], [other.sample() for _ in range(3)])


@given(spaces, seeds)
@settings(deadline=None)
def test_a_pickled_or_copied_space_is_equal_and_goes_on_with_the_same_samples(
    space: Any, seed: int
) -> None:
    space.seed(seed)
    copies = [pickle.loads(pickle.dumps(space)), copy.deepcopy(space)]
    expected = space.sample()
    for other in copies:
        assert other == space
        assert repr(other) == repr(space)
        assert same(other.sample(), expected)
    assert copy.copy(space) == space


@given(spaces, spaces)
@settings(deadline=None)
def test_equality_is_symmetric_and_needs_the_same_description(one: Any, two: Any) -> None:
    assert (one == two) is (two == one)
    assert one != gymnasium.spaces.Discrete(2)
    if one == two:
        assert repr(one) == repr(two)
        assert one.name == two.name


@given(spaces)
@settings(deadline=None)
def test_a_space_of_another_name_is_another_space(space: Any) -> None:
    other = copy.deepcopy(space)
    other.name = "other"
    assert other != space


@given(spaces)
@settings(deadline=None)
def test_odd_values_are_refused_or_taken_but_never_raise(space: Any) -> None:
    for value in ODD:
        assert space.contains(value) in (True, False)
        assert isinstance(space.contains(value), bool)


@given(spaces, seeds)
@settings(deadline=None)
def test_actions_survive_being_written_and_read(space: Any, seed: int) -> None:
    space.seed(seed)
    actions = [space.sample() for _ in range(3)]
    text = space.to_string(actions)
    read = space.from_string(text)
    assert same(read, actions)
    assert all(map(space.contains, read))
    assert space.from_string(space.to_string([])) == []


@given(spaces, seeds)
@settings(deadline=None)
def test_actions_made_plain_are_written_the_same(space: Any, seed: int) -> None:
    space.seed(seed)
    actions = [space.sample() for _ in range(2)]
    assert space.to_string(to_plain(actions)) == space.to_string(actions)


@given(spaces, seeds)
@settings(deadline=None)
def test_values_survive_gymnasiums_json_form(space: Any, seed: int) -> None:
    space.seed(seed)
    values = [space.sample() for _ in range(2)]
    assert same(space.from_jsonable(space.to_jsonable(values)), values)


@given(flat_spaces, seeds)
@settings(deadline=None)
def test_flat_values_lie_in_the_flat_space_and_come_back(space: Any, seed: int) -> None:
    space.seed(seed)
    value = space.sample()
    flat = flatten(space, value)
    flat_space = flatten_space(space)
    assert isinstance(flat, np.ndarray)
    assert isinstance(flat_space, gymnasium.spaces.Box)
    assert flat.shape == (flatdim(space),) == flat_space.shape
    assert flat_space.contains(flat)
    if np.can_cast(flat_space.dtype, np.int64) or flat_space.dtype.kind == "f":
        flat_space.seed(seed)
        assert flat_space.contains(flat_space.sample())
    exact = flat.dtype.kind != "f" or not _holds_wide_integers(space)
    assert not exact or same(unflatten(space, flat), value)


def _holds_wide_integers(space: Any) -> bool:
    """Whether a value may be an integer that no float64 holds."""
    inner = getattr(space, "spaces", {})
    inner = list(inner.values()) if hasattr(inner, "values") else list(inner)
    if inner:
        return any(map(_holds_wide_integers, inner))
    return space.dtype.kind in "iu" and space.dtype.itemsize >= 4


@given(spaces, seeds)
@settings(deadline=None)
def test_spaces_of_no_fixed_size_flatten_to_their_parts(space: Any, seed: int) -> None:
    if space.is_np_flattenable:
        return
    space.seed(seed)
    value = space.sample()
    flat = flatten(space, value)
    flat_space: Any = flatten_space(space)
    assert flat_space.contains(flat)
    with pytest.raises(ValueError, match="cannot be flattened"):
        flatdim(space)


@given(spaces, seeds, st.integers(1, 3))
@settings(deadline=None)
def test_batches_hold_one_value_per_environment(space: Any, seed: int, n: int) -> None:
    space.seed(seed)
    values = [space.sample() for _ in range(n)]
    batch = concatenate(space, values, create_empty_array(space, n))
    batched = batch_space(space, n)
    assert batched.contains(batch)
    batched.seed(seed)
    assert batched.contains(batched.sample())
    if isinstance(space, (Box, Scalar, Discrete, NamedDiscrete, MultiBinary)):
        back = list(iterate(batched, batch))
        assert all(map(space.contains, back))
        assert same(back, values)


def test_every_public_class_has_an_example() -> None:
    for name in compiler_gym.spaces.__all__:
        value = getattr(compiler_gym.spaces, name)
        assert ">>>" in value.__doc__ or name == "CommandlineFlag", name
