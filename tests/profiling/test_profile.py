# SPDX-License-Identifier: MIT
"""A profile sums nested spans, and is exported for the tools that draw flame graphs."""

import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from compiler_gym.profiling import Layer, Profile, ProfileRow, Span, to_folded, to_speedscope


def test_every_nanosecond_is_in_one_layer(known: Profile) -> None:
    assert known.layers() == {
        Layer.PYTHON: 10 + 35,
        Layer.TRANSPORT: 15,
        Layer.WORKER: 5,
        Layer.ACTIONS: 15,
        Layer.PASSES: 5 + 15,
        Layer.ANALYSES: 15,
        Layer.OBSERVATIONS: 20 + 5,
    }
    assert sum(known.layers().values()) + known.other_nanoseconds == known.nanoseconds
    assert known.other_nanoseconds == 10


def test_a_row_has_what_is_within_it_but_for_its_own_kind(known: Profile) -> None:
    assert known.rows(Layer.PASSES) == [ProfileRow("fold;all", 2, 30), ProfileRow("manager", 1, 5)]
    assert known.rows(Layer.ANALYSES) == [ProfileRow("dominators", 3, 15)]
    assert known.rows(Layer.OBSERVATIONS) == [ProfileRow("size", 2, 25)]
    assert known.rows(Layer.ACTIONS) == [ProfileRow("fold", 1, 50)]
    assert known.rows(Layer.PROCESSES) == []
    assert known.rows(Layer.ANALYSES)[0].mean_nanoseconds == 5


def test_rows_of_a_layer_count_nothing_twice() -> None:
    inner = Span(Layer.PASSES, "a", 30)
    between = Span(Layer.ANALYSES, "asks", 40, parts=(inner,))
    outer = Span(Layer.PASSES, "a", 100, parts=(between,))
    assert Profile("", (), 100, (outer,)).rows(Layer.PASSES) == [ProfileRow("a", 2, 100)]


def test_no_pass_counts_with_telling_what_it_changed() -> None:
    asks = Span(Layer.ANALYSES, "asks", 20, parts=(Span(Layer.DETECTION, "compare", 5),))
    fold = Span(Layer.PASSES, "fold", 100, parts=(asks, Span(Layer.DETECTION, "compare", 10)))
    whole = Profile("", (), 100, (Span(Layer.ACTIONS, "fold", 100, parts=(fold,)),))
    assert whole.rows(Layer.PASSES) == [ProfileRow("fold", 1, 85)]
    assert whole.rows(Layer.ANALYSES) == [ProfileRow("asks", 1, 15)]
    assert whole.rows(Layer.DETECTION) == [ProfileRow("compare", 2, 15)]
    assert whole.rows(Layer.ACTIONS) == [ProfileRow("fold", 1, 100)]


def test_parts_that_seem_longer_than_the_whole_leave_nothing_and_not_less() -> None:
    assert (
        Span(Layer.WORKER, "worker", 10, parts=(Span(Layer.PASSES, "a", 12),)).own_nanoseconds == 0
    )


def test_as_json_it_has_the_same_numbers(known: Profile) -> None:
    plain = json.loads(json.dumps(known.to_json()))
    assert plain["nanoseconds"] == 150
    assert sum(plain["layers"].values()) == 150
    assert plain["rows"]["passes"][0] == {"name": "fold;all", "calls": 2, "nanoseconds": 30}
    assert plain["error"] is None
    assert plain["spans"][1]["parts"][0]["name"] == "request"


NUMBER, TEXT = {"type": "number"}, {"type": "string"}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["$schema", "profiles", "shared"],
    "properties": {
        "$schema": {"enum": ["https://www.speedscope.app/file-format-schema.json"]},
        "name": TEXT,
        "exporter": TEXT,
        "activeProfileIndex": NUMBER,
        "shared": {
            "type": "object",
            "required": ["frames"],
            "properties": {
                "frames": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {"name": TEXT, "file": TEXT, "line": NUMBER, "col": NUMBER},
                    },
                }
            },
        },
        "profiles": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["type", "name", "unit", "startValue", "endValue", "events"],
                "properties": {
                    "type": {"enum": ["evented"]},
                    "name": TEXT,
                    "unit": {
                        "enum": [
                            "bytes",
                            "microseconds",
                            "milliseconds",
                            "nanoseconds",
                            "none",
                            "seconds",
                        ]
                    },
                    "startValue": NUMBER,
                    "endValue": NUMBER,
                    "events": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["type", "at", "frame"],
                            "properties": {
                                "type": {"enum": ["O", "C"]},
                                "at": NUMBER,
                                "frame": NUMBER,
                            },
                        },
                    },
                },
            },
        },
    },
}
"""What https://www.speedscope.app/file-format-schema.json says of evented profiles."""


def taken_by_stack(text: str) -> dict[str, int]:
    """Check a file of speedscope as its importer does; return the own time of each stack."""
    document = json.loads(text)
    jsonschema.validate(document, SCHEMA)
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    found: dict[str, int] = {}
    for profile in document["profiles"]:
        last, stack = profile["startValue"], list[int]()
        for event in profile["events"]:
            assert event["at"] >= last, "events are out of order"
            name = ";".join(frames[frame].replace(";", ",") for frame in stack)
            if event["at"] > last and stack:
                found[name] = found.get(name, 0) + event["at"] - last
            if event["type"] == "O":
                stack.append(event["frame"])
            else:
                assert stack.pop() == event["frame"], "a frame ends that is not the innermost"
            last = event["at"]
        assert not stack, "a frame was left open"
        assert last <= profile["endValue"]
    return found


def test_a_file_of_speedscope_is_one_and_has_the_times_of_the_profile(known: Profile) -> None:
    found = taken_by_stack(to_speedscope(known))
    around = "step fold;request;worker"
    assert found == {
        "reset": 35,
        "reset;size": 5,
        "step fold": 10,
        "step fold;request": 15,
        around: 5,
        f"{around};fold": 15,
        f"{around};fold;manager": 5,
        f"{around};fold;manager;fold,all": 15,
        f"{around};fold;manager;fold,all;dominators": 15,
        f"{around};size": 20,
    }


def test_folded_stacks_have_the_same_times(known: Profile) -> None:
    lines = [line.rpartition(" ") for line in to_folded(known).splitlines()]
    assert {stack: int(taken) for stack, _, taken in lines} == taken_by_stack(to_speedscope(known))


def test_frames_that_are_out_of_order_are_seen(known: Profile) -> None:
    document = json.loads(to_speedscope(known))
    events = document["profiles"][0]["events"]
    events[1], events[2] = events[2], events[1]
    with pytest.raises(AssertionError, match=r"innermost|order"):
        taken_by_stack(json.dumps(document))
    del document["profiles"][0]["unit"]
    with pytest.raises(jsonschema.ValidationError, match="'unit' is a required property"):
        taken_by_stack(json.dumps(document))


def test_a_part_never_leaves_the_span_around_it(known: Profile) -> None:
    reset, step = known.spans
    late = replace(step.parts[0], began=149)  # it took 90 and its step ended at 150
    taken_by_stack(to_speedscope(replace(known, spans=(reset, replace(step, parts=(late,))))))
