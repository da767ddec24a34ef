# SPDX-License-Identifier: MIT
"""The records of a profile, nested spans of time and their sums, and their export.

Speedscope files and folded stacks are for the tools that draw flame graphs.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from compiler_gym.errors import CompilerGymError
from compiler_gym.session import Layer
from compiler_gym.version import __version__

_WITHOUT_DETECTION = (Layer.PASSES, Layer.ANALYSES)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time, or the total of several with the same name within one span."""

    layer: Layer
    name: str
    nanoseconds: int
    calls: int = 1
    began: int | None = None
    """Nanoseconds since the profile began; None if only the surrounding span is known."""
    parts: tuple["Span", ...] = ()
    """The spans nested in this one, in order."""

    @property
    def own_nanoseconds(self) -> int:
        """Nanoseconds not covered by any nested span."""
        return max(0, self.nanoseconds - sum(part.nanoseconds for part in self.parts))

    def walk(self) -> Iterator["Span"]:
        """Yield this span and every span nested in it."""
        yield self
        for part in self.parts:
            yield from part.walk()

    def without(self, *layers: Layer) -> int:
        """Return the nanoseconds minus those of nested spans of `layers`, at any depth."""
        return self.nanoseconds - sum(_outermost(self.parts, layers))

    def to_json(self) -> dict[str, Any]:
        """Return this span as plain values."""
        return {
            "layer": self.layer.value,
            "name": self.name,
            "nanoseconds": self.nanoseconds,
            "calls": self.calls,
            "began": self.began,
            "parts": [part.to_json() for part in self.parts],
        }


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """The total of all spans with one name."""

    name: str
    calls: int
    nanoseconds: int

    @property
    def mean_nanoseconds(self) -> float:
        """Mean nanoseconds per call."""
        return self.nanoseconds / self.calls if self.calls else 0.0


@dataclass(frozen=True, slots=True)
class Profile:
    """The time of an episode, by span and by layer."""

    benchmark: str
    actions: tuple[str, ...]
    """The names of the actions taken, in order, including one that failed."""
    nanoseconds: int
    """Duration of the episode, without the overhead of fetching the times."""
    spans: tuple[Span, ...]
    """The reset, then each step."""
    error: CompilerGymError | None = None
    """The error that ended the episode early, if any."""

    @property
    def other_nanoseconds(self) -> int:
        """Nanoseconds outside every span."""
        return max(0, self.nanoseconds - sum(span.nanoseconds for span in self.spans))

    def walk(self) -> Iterator[Span]:
        """Yield every span."""
        for span in self.spans:
            yield from span.walk()

    def layers(self) -> dict[Layer, int]:
        """Return the nanoseconds of each layer that took any; the rest are `other_nanoseconds`."""
        totals = dict.fromkeys(Layer, 0)
        for span in self.walk():
            totals[span.layer] += span.own_nanoseconds
        return {layer: nanoseconds for layer, nanoseconds in totals.items() if nanoseconds}

    def rows(self, layer: Layer) -> list[ProfileRow]:
        """Return the spans of `layer` by name, the longest first.

        A pass includes its analyses, and an observation the processes it ran: everything nested
        in a row's spans, except spans of the same layer, which have their own rows. The time to
        detect a pass's changes does not count towards that pass.
        """
        apart = (layer, Layer.DETECTION) if layer in _WITHOUT_DETECTION else (layer,)
        rows: dict[str, ProfileRow] = {}
        for span in self.walk():
            if span.layer is layer:
                row = rows.get(span.name, ProfileRow(span.name, 0, 0))
                rows[span.name] = ProfileRow(
                    span.name,
                    row.calls + span.calls,
                    row.nanoseconds + max(0, span.without(*apart)),
                )
        return sorted(rows.values(), key=lambda row: -row.nanoseconds)

    def to_json(self) -> dict[str, Any]:
        """Return plain values; all times are whole nanoseconds."""
        rows = {layer: self.rows(layer) for layer in Layer}
        return {
            "benchmark": self.benchmark,
            "actions": list(self.actions),
            "nanoseconds": self.nanoseconds,
            "layers": {layer.value: nanoseconds for layer, nanoseconds in self.layers().items()}
            | {"other": self.other_nanoseconds},
            "rows": {
                layer.value: [
                    {"name": row.name, "calls": row.calls, "nanoseconds": row.nanoseconds}
                    for row in layer_rows
                ]
                for layer, layer_rows in rows.items()
                if layer_rows
            },
            "error": None
            if self.error is None
            else {"type": type(self.error).__name__, "message": str(self.error)},
            "spans": [span.to_json() for span in self.spans],
        }


def _outermost(spans: Iterable[Span], layers: tuple[Layer, ...]) -> Iterator[int]:
    """Yield the nanoseconds of spans of `layers` that no other such span contains."""
    for span in spans:
        if span.layer in layers:
            yield span.nanoseconds
        else:
            yield from _outermost(span.parts, layers)


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
    document = _speedscope_document(profile, frames, events, max(at, profile.nanoseconds))
    return json.dumps(document, separators=(",", ":")) + "\n"


def _speedscope_document(
    profile: Profile, frames: Iterable[tuple[str, str]], events: list[dict[str, Any]], end: int
) -> dict[str, Any]:
    return {
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
                "endValue": end,
                "events": events,
            }
        ],
    }


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
