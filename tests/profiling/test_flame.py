# SPDX-License-Identifier: MIT
import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest

from compiler_gym.profiling import Profile, to_folded, to_speedscope

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
