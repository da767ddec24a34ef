# SPDX-License-Identifier: MIT
"""What a profile says: spans of time within one another, and their sums.

Every nanosecond is counted once: a layer has the time in its spans less that in spans within
them, so that the layers add up to the whole.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from compiler_gym.errors import CompilerGymError
from compiler_gym.session import Layer

__all__ = ["Profile", "ProfileRow", "Span"]

_TOLD_APART = (Layer.PASSES, Layer.ANALYSES)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time, or several of the same name within the same span together."""

    layer: Layer
    name: str
    nanoseconds: int
    calls: int = 1
    began: int | None = None
    """Nanoseconds since the profile began; None where it is known only what was around it."""
    parts: tuple["Span", ...] = ()
    """What went into it, in order."""

    @property
    def own_nanoseconds(self) -> int:
        """What no part of it took."""
        return max(0, self.nanoseconds - sum(part.nanoseconds for part in self.parts))

    def walk(self) -> Iterator["Span"]:
        """Yield this and every span within it."""
        yield self
        for part in self.parts:
            yield from part.walk()

    def without(self, *layers: Layer) -> int:
        """Return the nanoseconds less those of spans of `layers` within it, at any depth."""
        return self.nanoseconds - sum(_outermost(self.parts, layers))

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
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
    """All spans of one name together."""

    name: str
    calls: int
    nanoseconds: int

    @property
    def mean_nanoseconds(self) -> float:
        """Nanoseconds of one call."""
        return self.nanoseconds / self.calls if self.calls else 0.0


@dataclass(frozen=True, slots=True)
class Profile:
    """Where the time of an episode went."""

    benchmark: str
    actions: tuple[str, ...]
    """The names of the actions that were taken, in order, the one that failed too."""
    nanoseconds: int
    """How long the episode took, without what asking for the times took."""
    spans: tuple[Span, ...]
    """The reset, then each step."""
    error: CompilerGymError | None = None
    """What ended the episode early, if anything did."""

    @property
    def other_nanoseconds(self) -> int:
        """What is in no span."""
        return max(0, self.nanoseconds - sum(span.nanoseconds for span in self.spans))

    def walk(self) -> Iterator[Span]:
        """Yield every span."""
        for span in self.spans:
            yield from span.walk()

    def layers(self) -> dict[Layer, int]:
        """Return the nanoseconds of each layer that took any; with the others they are all."""
        found = dict.fromkeys(Layer, 0)
        for span in self.walk():
            found[span.layer] += span.own_nanoseconds
        return {layer: taken for layer, taken in found.items() if taken}

    def rows(self, layer: Layer) -> list[ProfileRow]:
        """Return the spans of `layer` by name, the longest first.

        A pass counts with its analyses, an observation with the processes it ran: with all
        that is within it, but for what is of the same layer and so has a row of its own. No pass
        counts with telling what it changed.
        """
        apart = (layer, Layer.DETECTION) if layer in _TOLD_APART else (layer,)
        found: dict[str, ProfileRow] = {}
        for span in self.walk():
            if span.layer is layer:
                known = found.get(span.name, ProfileRow(span.name, 0, 0))
                found[span.name] = ProfileRow(
                    span.name,
                    known.calls + span.calls,
                    known.nanoseconds + max(0, span.without(*apart)),
                )
        return sorted(found.values(), key=lambda row: -row.nanoseconds)

    def to_json(self) -> dict[str, Any]:
        """Return plain values: all times are whole nanoseconds."""
        rows = {layer: self.rows(layer) for layer in Layer}
        return {
            "benchmark": self.benchmark,
            "actions": list(self.actions),
            "nanoseconds": self.nanoseconds,
            "layers": {layer.value: taken for layer, taken in self.layers().items()}
            | {"other": self.other_nanoseconds},
            "rows": {
                layer.value: [
                    {"name": row.name, "calls": row.calls, "nanoseconds": row.nanoseconds}
                    for row in found
                ]
                for layer, found in rows.items()
                if found
            },
            "error": None
            if self.error is None
            else {"type": type(self.error).__name__, "message": str(self.error)},
            "spans": [span.to_json() for span in self.spans],
        }


def _outermost(spans: Iterable[Span], layers: tuple[Layer, ...]) -> Iterator[int]:
    """Yield the nanoseconds of spans of `layers` that lie in no other one of them."""
    for span in spans:
        if span.layer in layers:
            yield span.nanoseconds
        else:
            yield from _outermost(span.parts, layers)
