# SPDX-License-Identifier: MIT
"""Specs become spaces, and values survive both ways."""

import gc
import json
from typing import Any

import gymnasium
import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler_gym import spaces
from compiler_gym.core.specs import plain_from_value, space_from_spec, value_from_plain
from compiler_gym.errors import SessionError, UnknownNameError
from compiler_gym.lazy import pause_collection
from compiler_gym.session import (
    BoxSpec,
    CommandlineSpec,
    DictSpec,
    DiscreteSpec,
    FlagSpec,
    MultiBinarySpec,
    MultiDiscreteSpec,
    NamedDiscreteSpec,
    OpaqueSpec,
    PermutationSpec,
    ScalarSpec,
    SequenceSpec,
    SpaceSequenceSpec,
    SpaceSpec,
    TextSpec,
    TupleSpec,
)


def test_the_collector_is_off_inside_and_on_again_after_an_error() -> None:
    def fail_inside() -> None:
        with pause_collection():
            assert not gc.isenabled()
            raise ValueError("inside")

    assert gc.isenabled()
    with pytest.raises(ValueError, match="inside"):
        fail_inside()
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with pause_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


FLAGS = (FlagSpec("a", "-a", "A"), FlagSpec("b", "-b x"))
LARGEST = 2**63 - 1
EXAMPLES: list[tuple[Any, Any, type]] = [
    (DiscreteSpec(3, start=-1), -1, spaces.Discrete),
    (NamedDiscreteSpec(("a", "b")), 1, spaces.NamedDiscrete),
    (CommandlineSpec(FLAGS), 1, spaces.Commandline),
    (MultiDiscreteSpec((2, 3)), [1, 2], spaces.MultiDiscrete),
    (MultiBinarySpec(2), [1, 0], spaces.MultiBinary),
    (BoxSpec(0, LARGEST, (2,), "int64"), [0, LARGEST], spaces.Box),
    (BoxSpec(0.0, float("inf"), (2, 1), "float32"), [[0.5], [1]], spaces.Box),
    (BoxSpec(0, 2**64 - 1, (2,), "uint64"), [1, 2**64 - 1], spaces.Box),
    (BoxSpec(0, 1, (), "float64"), 0.25, spaces.Box),
    (BoxSpec(-128, 127, (-1,), "int8"), [1, -2, 3], spaces.FreeBox),
    (BoxSpec(0, 9, (-1, 2), "int32"), [], spaces.FreeBox),
    (ScalarSpec(0, None, "int"), 12, spaces.Scalar),
    (ScalarSpec(0.0, 1.0), 1, spaces.Scalar),
    (ScalarSpec(dtype="bool"), True, spaces.Scalar),
    (TextSpec(), "möre", spaces.Sequence),
    (SequenceSpec("str", 2, 2), "ab", spaces.Sequence),
    (SequenceSpec(), b"\x00", spaces.Sequence),
    (SequenceSpec("bytes", low=0, high=9), b"\x09", spaces.Sequence),
    (SequenceSpec("int", low=0), [1, 2], spaces.Sequence),
    (SequenceSpec("float"), [1.5, 2], spaces.Sequence),
    (SequenceSpec("bool"), [True], spaces.Sequence),
    (PermutationSpec(3), [2, 0, 1], spaces.Permutation),
    (OpaqueSpec("json"), '{"a": [1, null]}', spaces.Opaque),
    (OpaqueSpec("raw"), b"x", spaces.Opaque),
    (DictSpec({"b": ScalarSpec(dtype="int"), "a": TextSpec()}), {"a": "x", "b": 1}, spaces.Dict),
    (TupleSpec((DiscreteSpec(2), BoxSpec(0, 1, (1,)))), [1, [0.5]], spaces.Tuple),
    (SpaceSequenceSpec(DiscreteSpec(3), 1, 2), [2, 0], spaces.SpaceSequence),
]


@pytest.mark.parametrize(("spec", "plain", "kind"), EXAMPLES)
def test_every_description_becomes_a_space_that_contains_its_decoded_values(
    spec: SpaceSpec, plain: Any, kind: type
) -> None:
    space = space_from_spec(spec, "x")
    assert type(space) is kind
    assert space.name == "x"  # type: ignore[attr-defined]  # ours have names
    assert space.contains(value_from_plain(spec)(plain))


@pytest.mark.parametrize(("spec", "plain", "kind"), EXAMPLES)
def test_descriptions_and_values_that_crossed_the_border_mean_the_same(
    spec: SpaceSpec, plain: Any, kind: type
) -> None:
    received = msgspec.msgpack.decode(msgspec.msgpack.encode(spec), type=SpaceSpec)
    value = msgspec.msgpack.decode(msgspec.msgpack.encode(plain))
    assert space_from_spec(received, "x") == space_from_spec(spec, "x")
    assert space_from_spec(spec, "x").contains(value_from_plain(received)(value))


@pytest.mark.parametrize(("spec", "plain", "kind"), EXAMPLES)
def test_samples_become_plain_and_come_back(spec: SpaceSpec, plain: Any, kind: type) -> None:
    space = space_from_spec(spec, "x")
    space.seed(0)
    sample = space.sample()
    sent = plain_from_value(space, sample)
    received = msgspec.msgpack.decode(msgspec.msgpack.encode(sent))
    if isinstance(spec, OpaqueSpec) and spec.format == "json":
        received = json.dumps(received)
    assert spaces.to_plain(value_from_plain(spec)(received)) == sent
    assert space.to_string([sent]) == space.to_string([sample])  # type: ignore[attr-defined]  # ours have it


def test_command_lines_take_the_style_that_the_session_names() -> None:
    class Pipeline(spaces.Commandline):
        """Another way to write a command line."""

    spec = CommandlineSpec(FLAGS, style="pipeline")
    space = space_from_spec(spec, "x", styles={"pipeline": Pipeline})
    assert type(space) is Pipeline
    assert space.flags == ["-a", "-b x"]
    assert space.descriptions == ["A", ""]
    nested = space_from_spec(DictSpec({"k": spec}), "x", styles={"pipeline": Pipeline})
    assert isinstance(nested, spaces.Dict)
    assert type(nested["k"]) is Pipeline
    with pytest.raises(UnknownNameError, match="unknown style 'pipeline'; the styles are words"):
        space_from_spec(spec, "x")
    assert type(space_from_spec(CommandlineSpec(FLAGS), "x", styles={})) is spaces.Commandline


def test_inner_spaces_are_named_after_their_place_and_keep_their_order() -> None:
    spec = DictSpec({"b": TupleSpec((DiscreteSpec(2),)), "a": SpaceSequenceSpec(TextSpec())})
    space: Any = space_from_spec(spec, "x")
    assert list(space) == ["b", "a"]
    assert space["b"].name == "b"
    assert space["b"][0].name == "b[0]"
    assert space["a"].space.name == "a[]"


def test_bytes_become_a_fresh_array_that_can_be_written_to() -> None:
    decode = value_from_plain(BoxSpec(0, LARGEST, (70,), "int64"))
    sent = np.arange(70, dtype="<i8").tobytes()
    first, second = decode(sent), decode(sent)
    assert first.dtype == np.int64
    assert first.dtype.isnative
    assert first.tolist() == list(range(70))
    first[:] = 0
    assert second.tolist() == list(range(70))
    assert second.flags.writeable
    assert second.flags.owndata


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_buffer_does_for_bytes(kind: Any) -> None:
    decode = value_from_plain(BoxSpec(0, 255, (2, 2), "uint8"))
    assert decode(kind(b"\x01\x02\x03\x04")).tolist() == [[1, 2], [3, 4]]
    assert value_from_plain(SequenceSpec())(kind(b"ab")) == b"ab"


def test_lists_become_fresh_arrays() -> None:
    decode = value_from_plain(BoxSpec(0, 1, (2,)))
    plain = np.array([0.5, 1.0], dtype=np.float32)
    value = decode(plain)
    value[0] = 0
    assert plain[0] == 0.5
    assert decode([0, 1]).dtype == np.float32


def test_free_axes_take_what_is_there() -> None:
    rows = value_from_plain(BoxSpec(0, 9, (-1, 2), "int16"))
    assert rows(np.arange(6, dtype="<i2").tobytes()).tolist() == [[0, 1], [2, 3], [4, 5]]
    assert rows(b"").shape == (0, 2)
    assert rows([]).shape == (0, 2)
    assert rows([[1, 2]]).tolist() == [[1, 2]]
    with pytest.raises(SessionError, match="got 6 bytes"):
        rows(b"123456")
    with pytest.raises(SessionError, match=r"expected int16\[-1, 2\], got list"):
        rows([[1, 2, 3]])
    both = value_from_plain(BoxSpec(0, 9, (-1, -1), "int16"))
    assert both([[1], [2]]).shape == (2, 1)
    with pytest.raises(SessionError, match=r"expected bytes of int16\[-1, -1\]"):
        both(b"12")


@pytest.mark.parametrize(
    ("spec", "plain", "message"),
    [
        (DiscreteSpec(3), 1.0, "an integer, got float"),
        (DiscreteSpec(3), True, "an integer, got bool"),
        (ScalarSpec(dtype="int"), "1", "an integer, got str"),
        (ScalarSpec(), None, "a number, got NoneType"),
        (ScalarSpec(dtype="bool"), 1, "true or false, got int"),
        (TextSpec(), b"x", "text, got 1 bytes"),
        (SequenceSpec(), "x", "bytes, got str"),
        (SequenceSpec("int"), [1, 2.0], "an integer, got float"),
        (SequenceSpec("int"), 5, "a list, got int"),
        (BoxSpec(0, 9, (2,), "int64"), b"123", r"16 bytes of int64\[2\], got 3 bytes"),
        (BoxSpec(0, 9, (2,), "int64"), [1], r"int64\[2\], got list"),
        (BoxSpec(0, 9, (2,), "int64"), [1, 2.5], r"int64\[2\], got list"),
        (BoxSpec(0, 9, (2,), "int64"), [True, False], r"int64\[2\], got list"),
        (BoxSpec(0, 9, (2,), "int64"), [[1], [2, 3]], r"int64\[2\], got list"),
        (BoxSpec(0, 9, (2,), "int8"), [1, 300], "int8, got list"),
        (BoxSpec(0, 9, (2,), "int64"), "ab", r"int64\[2\], got str"),
        (BoxSpec(0, 9, (2,), "int64"), None, r"int64\[2\], got NoneType"),
        (PermutationSpec(3), [1, 2], r"int64\[3\], got list"),
        (OpaqueSpec("json"), "{", "JSON text, got str"),
        (OpaqueSpec("json"), 5, "JSON text, got int"),
        (OpaqueSpec("json"), "[" * 100_000, "JSON text, got str"),
        (DictSpec({"a": TextSpec()}), {"b": "x"}, "a dictionary of a, got dict"),
        (DictSpec({"a": TextSpec()}), ["x"], "a dictionary of a, got list"),
        (TupleSpec((TextSpec(),)), ["x", "y"], "a list of 1 values, got list"),
        (SpaceSequenceSpec(TextSpec()), "xy", "a list, got str"),
    ],
)
def test_malformed_values_are_reported_with_the_expected_form(
    spec: SpaceSpec, plain: Any, message: str
) -> None:
    with pytest.raises(SessionError, match=f"expected .*{message}"):
        value_from_plain(spec)(plain)


def test_numpys_values_become_plain() -> None:
    space = gymnasium.spaces.Dict({"a": gymnasium.spaces.Discrete(3)})
    action = {"a": np.int64(2), "b": (np.float32(0.5), np.array([True]), b"x", "y", None)}
    plain = plain_from_value(space, action)
    assert plain == {"a": 2, "b": [0.5, [True], b"x", "y", None]}
    assert [type(item) for item in plain["b"][:2]] == [float, list]
    assert type(plain["a"]) is int
    assert type(plain_from_value(gymnasium.spaces.Discrete(3), np.array(2))) is int


def test_an_invalid_description_is_refused() -> None:
    with pytest.raises(TypeError, match="description of a space"):
        space_from_spec("box", "x")  # type: ignore[arg-type]  # the mistake under test
    with pytest.raises(TypeError, match="description of a space"):
        value_from_plain("box")  # type: ignore[arg-type]  # the mistake under test


@given(st.data(), st.sampled_from(["int8", "int64", "uint64", "float32", "float64"]))
@settings(deadline=None)
def test_bytes_and_lists_decode_to_the_same_array(data: st.DataObject, dtype: str) -> None:
    number = np.dtype(dtype)
    if number.kind == "f":
        low, high = -1e6, 1e6
        element: Any = st.floats(low, high, width=32)
    else:
        low, high = int(np.iinfo(number).min), int(np.iinfo(number).max)
        element = st.integers(low, high)
    items = data.draw(st.lists(element, max_size=6))
    spec = BoxSpec(low, high, data.draw(st.sampled_from([(-1,), (len(items),)])), dtype)
    decode = value_from_plain(spec)
    sent = np.array(items, dtype=number.newbyteorder("<"))
    from_bytes, from_list = decode(sent.tobytes()), decode(items)
    assert from_bytes.tolist() == from_list.tolist() == sent.tolist()
    assert from_bytes.dtype == from_list.dtype == number
    assert space_from_spec(spec, "x").contains(from_bytes)
