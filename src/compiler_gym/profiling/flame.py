# SPDX-License-Identifier: MIT
"""Export a profile for the tools that draw flame graphs.

speedscope's JSON keeps the order of events (https://www.speedscope.app); folded stacks, one per
line, are the input of ``flamegraph.pl`` and similar tools.
"""

import json
from typing import Any

from compiler_gym.profiling.profile import Profile, Span
from compiler_gym.version import __version__

__all__ = ["to_folded", "to_speedscope"]

_SPEEDSCOPE_SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def to_speedscope(profile: Profile) -> str:
    """Return `profile` as a speedscope file: events in order, with times in nanoseconds."""
    frames: dict[tuple[str, str], int] = {}
    events: list[dict[str, Any]] = []

    def add(kind: str, frame: int, at: int) -> None:
        events.append({"type": kind, "frame": frame, "at": at})

    def write(span: Span, began: int, ended: int) -> None:
        frame = frames.setdefault((span.name, span.layer.value), len(frames))
        add("O", frame, began)
        at = began
        for part in span.parts:
            # A part without a start time follows the part before it; no part outlasts its span.
            at = max(at, min(part.began or 0, ended - part.nanoseconds))
            until = min(at + part.nanoseconds, ended)
            write(part, at, until)
            at = until
        add("C", frame, ended)

    at = 0
    for span in profile.spans:
        at = max(at, span.began or 0)
        write(span, at, at + span.nanoseconds)
        at += span.nanoseconds
    document = {
        "$schema": _SPEEDSCOPE_SCHEMA,
        "name": profile.benchmark,
        "activeProfileIndex": 0,
        "exporter": f"compiler_gym {__version__}",
        "shared": {"frames": [{"name": name, "file": layer} for name, layer in frames]},
        "profiles": [
            {
                "type": "evented",
                "name": profile.benchmark,
                "unit": "nanoseconds",
                "startValue": 0,
                "endValue": max(at, profile.nanoseconds),
                "events": events,
            }
        ],
    }
    return json.dumps(document, separators=(",", ":")) + "\n"


def to_folded(profile: Profile) -> str:
    """Return `profile` as folded stacks: names separated by ``;``, then nanoseconds."""
    stacks: dict[str, int] = {}

    def add(span: Span, around: str) -> None:
        name = span.name.replace(";", ",").replace("\n", " ")
        stack = f"{around};{name}" if around else name
        stacks[stack] = stacks.get(stack, 0) + span.own_nanoseconds
        for part in span.parts:
            add(part, stack)

    for span in profile.spans:
        add(span, "")
    return "".join(f"{stack} {time}\n" for stack, time in stacks.items() if time)
