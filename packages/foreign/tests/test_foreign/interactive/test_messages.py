# SPDX-License-Identifier: MIT
"""Bytes of the protocol become messages in whatever parts they come; others are refused."""

import json
from collections.abc import Iterable

import numpy as np
import pytest

from compiler_gym.errors import ServiceTransportError
from compiler_gym_foreign.interactive import CompilerQuestion, FeatureTensor, Header, Reader

FEATURES = (FeatureTensor("cost", "int64_t", (1,)), FeatureTensor("grid", "float", (2, 2)))
ADVICE = FeatureTensor("inline", "int64_t", (1,))


def line(said: object) -> bytes:
    return json.dumps(said).encode() + b"\n"


def header() -> bytes:
    def described(tensor: FeatureTensor) -> dict[str, object]:
        return {"name": tensor.name, "type": tensor.type, "port": 0, "shape": list(tensor.shape)}

    return line({"features": list(map(described, FEATURES)), "advice": described(ADVICE)})


def question(number: int, cost: int) -> bytes:
    grid = np.full((2, 2), cost / 2, np.float32)
    return line({"observation": number}) + np.int64(cost).tobytes() + grid.tobytes() + b"\n"


def read(parts: Iterable[bytes]) -> list[Header | CompilerQuestion]:
    reader = Reader()
    return [message for part in parts for message in reader.feed(part)]


def test_messages_do_not_depend_on_how_they_are_split() -> None:
    stream = header() + line({"context": "f"}) + question(0, 10) + question(1, -1)
    for parts in ([stream], [stream[i : i + 1] for i in range(len(stream))]):
        first, *asked = read(parts)
        assert first == Header(FEATURES, ADVICE)
        assert [
            (one.context, one.number) for one in asked if isinstance(one, CompilerQuestion)
        ] == [
            ("f", 0),
            ("f", 1),
        ]
        assert isinstance(asked[1], CompilerQuestion)
        assert asked[1].tensors[0].tolist() == [-1]
        assert asked[1].tensors[1].tolist() == [[-0.5, -0.5], [-0.5, -0.5]]


def test_a_number_that_holds_a_newline_is_not_an_end_of_a_line() -> None:
    (_, asked) = read([header() + question(0, 0x0A0A0A0A)])
    assert isinstance(asked, CompilerQuestion)
    assert asked.tensors[0].tolist() == [0x0A0A0A0A]


def test_a_second_header_begins_another_compilation() -> None:
    messages = read([header() + line({"context": "f"}) + header() + question(0, 1)])
    assert isinstance(messages[2], CompilerQuestion)
    assert messages[2].context == ""


def test_partly_read_messages_are_recognised() -> None:
    reader = Reader()
    assert reader.is_between_messages
    assert list(reader.feed(header() + question(0, 1)[:-3]))
    assert not reader.is_between_messages


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"hello\n", "a line of JSON"),
        (b"[1, 2]\n", "a line of JSON"),
        (b"x" * (1 << 21), "a line of JSON"),
        (line({"observation": 0}), "names the features"),
        (line({"features": [{"name": "x"}], "advice": {}}), "a name, a type and a shape"),
        (
            line({"features": [], "advice": {"name": "x", "type": "bool", "shape": [1]}}),
            "a name, a type and a shape",
        ),
        (
            line({"features": [], "advice": {"name": "x", "type": "float", "shape": [1 << 40]}}),
            "a name, a type and a shape",
        ),
        (header() + line({"reward": 1}), "a context or an observation"),
        (header() + question(0, 1)[:-1] + b"x", "a newline after the tensors"),
    ],
)
def test_other_bytes_are_refused_with_the_expected_form(stream: bytes, expected: str) -> None:
    with pytest.raises(ServiceTransportError, match=expected):
        read([stream])


def test_an_answer_has_the_type_and_the_shape_of_the_advice() -> None:
    assert ADVICE.pack(True) == np.int64(1).tobytes()
    assert (
        FeatureTensor("scores", "float", (2,)).pack([1, 2])
        == np.array([1, 2], np.float32).tobytes()
    )
    with pytest.raises(ServiceTransportError, match="expected 1 numbers, got 2"):
        ADVICE.pack([1, 2])
