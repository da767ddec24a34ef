# SPDX-License-Identifier: MIT
"""What people look at of a program: an environment names its texts, costs, vectors and graphs.

A table of observations and of functions that read them, so that whoever draws an environment
names no compiler. It draws nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gymnasium
import numpy as np

from compiler_gym.core.rendering import Listing
from compiler_gym.core.views import ObservationView
from compiler_gym.datasets import Benchmark
from compiler_gym.spaces import Reward, Scalar
from compiler_gym.tables import Cost

__all__ = [
    "CostPane",
    "GraphPane",
    "PaneEdge",
    "PaneGraph",
    "PaneNode",
    "PaneText",
    "Panes",
    "TextPane",
    "cost_panes",
    "panes_from_spaces",
]

_MOST_VALUES = 1000
"""How many numbers an observation has at most that is drawn over time unasked."""


@dataclass(frozen=True, slots=True)
class PaneText:
    """A text as it is shown."""

    text: str
    lines: Mapping[int, int] = field(default_factory=dict[int, int])
    """The line of the source that a line comes from, both from 1, where that is known."""


@dataclass(frozen=True, slots=True)
class TextPane:
    """An observation that is text."""

    observation: str
    listing: Listing = Listing()  # noqa: RUF009 - it is frozen
    """How it is written."""
    read: Callable[[str], PaneText] = PaneText
    """Makes what is shown of what was observed."""
    title: str = "Program"
    """What people call it."""


@dataclass(frozen=True, slots=True)
class CostPane:
    """An observation that is a number, and less is better."""

    observation: str
    title: str
    unit: str = ""
    at_once: bool = False
    """Whether it is measured at every step: it takes no time to speak of."""
    baselines: Mapping[str, str] = field(default_factory=dict[str, str])
    """The observation of the same cost at each standard level, by what the level is called."""


@dataclass(frozen=True, slots=True)
class PaneNode:
    """A node of a graph."""

    id: str
    label: str
    kind: str = ""
    function: str = ""
    digest: str = ""
    """Equal where what it stands for is the same in two states; empty: its label says it."""
    weight: float | None = None


@dataclass(frozen=True, slots=True)
class PaneEdge:
    """An edge of a graph, between the ids of two nodes."""

    source: str
    target: str
    label: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class PaneGraph:
    """A graph to be drawn."""

    nodes: tuple[PaneNode, ...]
    edges: tuple[PaneEdge, ...]


@dataclass(frozen=True, slots=True)
class GraphPane:
    """A graph that can be made of observations."""

    kind: str
    """One word, for addresses."""
    title: str
    read: Callable[[Sequence[Any], str], PaneGraph]
    """Makes it of the values of the observations and of the name of a function, which is empty
    where all are meant."""
    observations: tuple[str, ...] = ()
    """Empty: `read` takes the text of the function."""
    of_function: bool = False
    """Whether there is one for each function only."""


@dataclass(frozen=True, slots=True)
class Panes:
    """All that can be looked at."""

    text: TextPane | None = None
    """The program as the compiler has it now."""
    assembly: TextPane | None = None
    source: TextPane | None = None
    """What the program was written as; None where only its benchmark may know."""
    costs: tuple[CostPane, ...] = ()
    vectors: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Observations of many numbers, with the names of these or none."""
    graphs: tuple[GraphPane, ...] = ()
    running: frozenset[str] = frozenset()
    """Observations that run the program."""
    paste: Callable[[str, str, str], Benchmark] | None = None
    """Makes a program of a stranger's text, the name of its format and its own name: boxed, as
    nothing is known of it. None: it is read as a file."""


def cost_panes(
    costs: Iterable[Cost], titles: Mapping[str, str], *, at_once: Iterable[str] = ()
) -> tuple[CostPane, ...]:
    """Return the panes of a table's costs, in the order of `titles`, which gives each its title."""
    by_observation = {cost.observation: cost for cost in costs}
    return tuple(
        CostPane(
            observation=name,
            title=title,
            unit=by_observation[name].unit,
            at_once=name in at_once,
            baselines=_baselines(by_observation[name]),
        )
        for name, title in titles.items()
    )


def panes_from_spaces(observations: ObservationView, rewards: Iterable[Reward]) -> Panes:
    """Return what can be looked at where an environment says nothing of it.

    The first text is the program, the numbers that rewards need are costs, and boxes of few
    numbers are vectors. What differs from time to time is taken for something that runs it.
    """
    needed = dict.fromkeys(name for reward in rewards for name in reward.observation_spaces)
    known = observations.spaces
    numbers = [name for name in needed if name in known and isinstance(known[name].space, Scalar)]
    texts = [name for name, spec in known.items() if _is_text(spec.space)]
    return Panes(
        text=TextPane(texts[0]) if texts else None,
        costs=tuple(CostPane(name, name, at_once=known[name].deterministic) for name in numbers),
        vectors={
            name: ()
            for name, spec in known.items()
            if spec.deterministic and _is_vector(spec.space)
        },
        running=frozenset(name for name, spec in known.items() if not spec.deterministic),
    )


def _baselines(cost: Cost) -> dict[str, str]:
    return {
        level.label or f"-{level.option.lstrip('-')}": f"{cost.name}{level.name}"
        for level in cost.levels
    }


def _is_text(space: Any) -> bool:
    kind = getattr(getattr(space, "dtype", None), "kind", "")
    return isinstance(space, gymnasium.spaces.Text) or kind == "U"


def _is_vector(space: Any) -> bool:
    shape: tuple[int, ...] | None = getattr(space, "shape", None)
    dtype: Any = getattr(space, "dtype", None)
    return (
        isinstance(space, gymnasium.spaces.Box)
        and shape is not None
        and len(shape) == 1
        and 1 < shape[0] <= _MOST_VALUES
        and np.issubdtype(dtype, np.number)
    )
