# SPDX-License-Identifier: MIT
"""Replies of programs that may send anything: each is right, or a typed error says what it is."""

import json
import os
import sys
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler_gym.core import CompilerEnv, space_from_spec, value_from_plain
from compiler_gym.datasets import Benchmark
from compiler_gym.errors import CompilerGymError, ServiceTransportError, WorkerTimeoutError
from compiler_gym.service import Limits, SessionSource, WorkerConnection, shut_down
from compiler_gym.service.checks import printable, read_reply
from compiler_gym.service.messages import (
    Description,
    Fork,
    Hello,
    Parameter,
    Request,
    Start,
    Step,
    Stop,
    encode,
)
from compiler_gym.session import (
    ActionSpaceSpec,
    BenchmarkSpec,
    BoxSpec,
    CommandlineSpec,
    DictSpec,
    DiscreteSpec,
    FlagSpec,
    MultiBinarySpec,
    MultiDiscreteSpec,
    NamedDiscreteSpec,
    ObservationSpec,
    OpaqueSpec,
    PermutationSpec,
    ScalarSpec,
    SequenceSpec,
    SpaceSequenceSpec,
    SpaceSpec,
    TextSpec,
    TupleSpec,
)
from compiler_gym_foreign import ServiceEnv
from service import rogue
from service.workers import start
from tests.effort import examples
from tests.stand_ins import stand_in

PROGRAM = Benchmark("benchmark://rogue/p", b"7")
STEP = Step([1], ["V"])
DISCRETE = {"type": "discrete", "n": 4}


def source_of(replies: dict[int, Any]) -> SessionSource:
    return SessionSource.of_program([sys.executable, rogue.__file__, json.dumps(replies)])


def greeting(place: int, value: Any) -> list[Any]:
    return [*rogue.GREETING[:place], value, *rogue.GREETING[place + 1 :]]


def action_space(space: Any, **fields: Any) -> list[Any]:
    return greeting(3, [{"name": "A", "space": space, **fields}])


def box(**fields: Any) -> list[Any]:
    space = {"type": "box", "low": 0, "high": 1, "shape": [2], "dtype": "float32", **fields}
    return action_space(space)


def nested(depth: int) -> Any:
    return DISCRETE if depth == 0 else {"type": "tuple", "items": [nested(depth - 1)]}


@pytest.mark.parametrize(
    "reply",
    [
        greeting(3, []),
        greeting(3, [rogue.SPACE, rogue.SPACE]),
        greeting(4, [rogue.SEEN, rogue.SEEN]),
        greeting(4, [{"name": "", "space": DISCRETE}]),
        *[action_space({"type": "discrete", "n": n}) for n in (-5, 0, 2**63)],
        action_space({"type": "discrete", "n": 2, "start": 2**63 - 1}),
        *[action_space({"type": "named_discrete", "items": i}) for i in ([], ["a", "a"], [""])],
        action_space({"type": "named_discrete", "items": ["a"]}, varying=[1]),
        action_space({"type": "named_discrete", "items": ["a"]}, sets=[0, 1]),
        action_space({"type": "multi_discrete", "nvec": [2, -1]}),
        action_space({"type": "multi_discrete", "nvec": []}),
        action_space({"type": "multi_binary", "n": 2**40}),
        action_space({"type": "permutation", "n": 0}),
        action_space({"type": "scalar", "dtype": "complex"}),
        action_space({"type": "scalar", "low": float("nan")}),
        action_space({"type": "text", "min_length": 3, "max_length": 1}),
        action_space({"type": "sequence", "dtype": "object"}),
        action_space({"type": "space_sequence", "space": {"type": "discrete", "n": -1}}),
        action_space({"type": "dict", "items": {"": DISCRETE}}),
        action_space(nested(400)),
        *[box(dtype=dtype) for dtype in ("no", "object", "complex64", "S8", "")],
        *[box(shape=shape) for shape in ([-2], [2**40], [2] * 40)],
        *[box(low=low) for low in (2, float("nan"), float("inf"))],
        box(dtype="uint8", low=-1e9),
    ],
)
def test_a_description_of_what_does_not_exist_is_refused(reply: list[Any]) -> None:
    with pytest.raises(ServiceTransportError):
        read_reply(msgspec.msgpack.encode(reply), Hello([1]))


@pytest.mark.parametrize(
    "reply",
    [
        [22],
        [18, None, [3]],
        [20, 5],
        [19, False, None, True, [], 1],
        [19, False, None, True, [3, 4], 1],
        *[[19, False, None, True, [3], applied] for applied in (2**40, -7, 0, 2)],
        [19, False, None, True, [], 1, ["SessionError"]],
        [19, False, None, True, [], 1, ["SessionError", "a", "b"]],
        [19, False, None, True, [3], 1, ["SessionError", "a"]],
        [19, False, None, True, [3], 1, None, None, 2**40],
        *[
            [19, False, None, True, [3], 1, None, None, 0, seconds]
            for seconds in (float("nan"), float("inf"), -1.0)
        ],
        [19, False, {"name": "", "space": DISCRETE}, True, [3], 1],
        [19, False, {"name": "A", "space": {"type": "discrete", "n": -1}}, True, [3], 1],
        [23, "SessionError", "no", 2, False],
    ],
)
def test_a_reply_that_does_not_fit_its_request_is_refused(reply: list[Any]) -> None:
    with pytest.raises(ServiceTransportError):
        read_reply(msgspec.msgpack.encode(reply), STEP)


@pytest.mark.parametrize("pid", [0, -1, 1 << 22, 2**40])
def test_a_fork_without_a_process_is_refused(pid: int) -> None:
    with pytest.raises(ServiceTransportError):
        read_reply(encode([20, pid]), Fork())


@pytest.mark.parametrize(
    "data", [b"\x93\x17\xa2\xff\xfe\xa1a", b"\x96\x13\xc2\xc0\xc2" + b"\x91" * 100_000 + b"\1\0"]
)
def test_texts_that_are_not_utf8_and_lists_too_deep_are_refused(data: bytes) -> None:
    with pytest.raises(ServiceTransportError):
        read_reply(data, STEP)


def test_control_characters_are_escaped_wherever_they_can_be_printed() -> None:
    red = "\x1b[31mred\r\u202e"
    shown = printable(red)
    assert shown.isprintable()
    assert printable("two\n\tlines") == "two\n\tlines"
    failed: Any = read_reply(encode([23, red, red]), STEP)
    assert (failed.kind, failed.message) == (shown, shown)
    names = {"type": "named_discrete", "items": [red]}
    told = [17, 1, red, [{"name": red, "space": names, "description": red}], []]
    described: Any = read_reply(encode(told), Hello([1]))
    (space,) = described.action_spaces
    assert (described.compiler_version, space.name, space.description) == (shown, shown, shown)
    assert space.space.items == (shown,)
    stepped: Any = read_reply(
        encode([19, False, None, True, [], 1, [red, red], [[red, red]]]), STEP
    )
    assert (stepped.failure, stepped.warnings) == ([shown, shown], [(shown, shown)])
    assert len(printable("x" * 10**6)) < 10**5


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text()
    | st.binary(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=8,
)
messages = st.lists(plain, max_size=10).flatmap(
    lambda rest: st.integers(17, 23).map(lambda tag: msgspec.msgpack.encode([tag, *rest]))
)
REQUESTS: list[Request] = [
    STEP,
    Start(BenchmarkSpec("a", b""), None, ["V"], {}),
    Fork(),
    Parameter("a", "b"),
    Stop(),
    Hello([1]),
]


@settings(max_examples=examples(500))
@given(messages | st.binary(max_size=100), st.sampled_from(REQUESTS))
def test_any_bytes_are_a_reply_or_a_typed_error(data: bytes, request: Request) -> None:
    try:
        read_reply(data, request)
    except CompilerGymError:
        pass


few = st.integers(-2, 4) | st.sampled_from([2**31, 2**63 - 1, -(2**63)])
numbers = few | st.floats() | st.none()
dtypes = st.sampled_from(["int", "float", "bool", "bytes", "str", "int8", "uint64", "float64"])
simple = (
    st.builds(DiscreteSpec, few, few)
    | st.builds(NamedDiscreteSpec, st.lists(st.text(max_size=2), max_size=3).map(tuple))
    | st.builds(
        CommandlineSpec,
        st.lists(st.builds(FlagSpec, st.text(max_size=2), st.text(max_size=2)), max_size=2).map(
            tuple
        ),
    )
    | st.builds(MultiDiscreteSpec, st.lists(few, max_size=3).map(tuple))
    | st.builds(MultiBinarySpec, few)
    | st.builds(PermutationSpec, few)
    | st.builds(
        BoxSpec, numbers, numbers, st.lists(st.integers(-2, 4), max_size=3).map(tuple), dtypes
    )
    | st.builds(ScalarSpec, numbers, numbers, dtypes)
    | st.builds(TextSpec, few, few | st.none())
    | st.builds(SequenceSpec, dtypes, few, few | st.none(), numbers, numbers, st.booleans())
    | st.builds(OpaqueSpec, st.sampled_from(["json", ""]))
)
spaces = st.recursive(
    simple,
    lambda inner: (
        st.builds(TupleSpec, st.lists(inner, max_size=3).map(tuple))
        | st.builds(DictSpec, st.dictionaries(st.text(max_size=2), inner, max_size=3))
        | st.builds(SpaceSequenceSpec, inner, few, few | st.none())
    ),
    max_leaves=4,
)
values = plain | st.lists(few | st.floats() | st.integers(2**63, 2**64 - 1), max_size=4)


@settings(max_examples=examples(1500))
@given(space=spaces, value=values)
def test_accepted_descriptions_are_spaces_and_bad_values_are_typed_errors(
    space: SpaceSpec, value: Any
) -> None:
    data = encode(Description(1, "v", [ActionSpaceSpec("A", space)], [ObservationSpec("V", space)]))
    try:
        read_reply(data, Hello([1]))
        space_from_spec(space, "A")
        value_from_plain(space)(value)
    except CompilerGymError:
        pass


def environment(replies: dict[int, Any]) -> CompilerEnv:
    command = [sys.executable, rogue.__file__, json.dumps({1: [18, None, [3]], **replies})]
    return ServiceEnv(command, observation_space="V")


@pytest.mark.parametrize("reply", [[22], [19, False, None, True, [], 1], [20, 5]])
def test_a_step_with_a_wrong_reply_ends_the_episode(reply: list[Any]) -> None:
    with environment({2: reply}) as env:
        env.reset(benchmark=PROGRAM)
        *_, truncated, info = env.step(0)
        assert truncated
        assert isinstance(info["error"], ServiceTransportError)


def frame(length: int) -> str:
    return length.to_bytes(8, "little").hex()


@pytest.mark.parametrize(
    ("tag", "act"),
    [
        (2, stand_in(lambda opened: opened.call(Step([0], [])))),
        (3, stand_in(lambda opened: opened.fork())),
    ],
)
@pytest.mark.parametrize(
    ("reply", "error"),
    [
        *[({"hex": frame(2**power)}, ServiceTransportError) for power in (31, 36, 50, 63)],
        ({"hex": frame(60_000), "then": "drip"}, WorkerTimeoutError),
        ({"hex": frame(2**50), "then": "flood"}, ServiceTransportError),
        ({"hex": frame(2**29), "then": "drip"}, (ServiceTransportError, WorkerTimeoutError)),
    ],
)
def test_no_reply_takes_longer_than_its_deadline(
    tag: int,
    act: Callable[[WorkerConnection], Any],
    reply: Any,
    error: type[Exception] | tuple[type[Exception], ...],
) -> None:
    opened = WorkerConnection.open(source_of({tag: reply}), Limits(step_seconds=60.0))
    opened.call(start())
    opened.limits = Limits(step_seconds=0.5)
    with pytest.raises(error):
        act(opened)
    shut_down()


def test_a_fork_with_something_else_than_a_socket_or_with_anothers_process_is_refused() -> None:
    for pid in (1, os.getpid(), 4_000_000):
        opened = WorkerConnection.open(source_of({3: [20, pid]}), Limits())
        opened.call(start())
        with pytest.raises(ServiceTransportError, match=r"not a (new copy|stream socket)"):
            opened.fork()
        assert not opened.is_open
    shut_down()
