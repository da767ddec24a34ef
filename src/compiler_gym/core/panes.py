# SPDX-License-Identifier: MIT
"""Panes: the texts, costs, vectors and graphs of a program that the explorer shows.

A pane names its observations and a function that reads them, so that drawing an environment
does not depend on the compiler. Nothing is drawn here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from compiler_gym.core.rendering import Listing
from compiler_gym.core.views import ObservationView
from compiler_gym.datasets import Benchmark
from compiler_gym.spaces import Reward, Scalar
from compiler_gym.tables import Cost

if TYPE_CHECKING:
    from compiler_gym.core.env import CompilerEnv


_MOST_VALUES = 1000
"""The longest vector that is drawn over time by default."""


@dataclass(frozen=True, slots=True)
class PaneText:
    """A text to show."""

    text: str
    lines: Mapping[int, int] = field(default_factory=dict[int, int])
    """The source line of each line of the text, where it is known; both count from 1."""


@dataclass(frozen=True, slots=True)
class TextPane:
    """An observation that is text."""

    observation: str
    listing: Listing = Listing()  # noqa: RUF009 - it is frozen
    """The syntax of the text."""
    read: Callable[[str], PaneText] = PaneText
    """Turns the value of the observation into the text to show."""
    title: str = "Program"
    """The heading of the pane."""


@dataclass(frozen=True, slots=True)
class CostPane:
    """An observation that is a number; lower is better."""

    observation: str
    title: str
    unit: str = ""
    at_once: bool = False
    """True if it is fast enough to be measured at every step."""
    baselines: Mapping[str, str] = field(default_factory=dict[str, str])
    """The observations of the same cost after each standard level, such as -Oz, by its label."""


@dataclass(frozen=True, slots=True)
class PaneNode:
    """A node of a graph."""

    id: str
    label: str
    kind: str = ""
    function: str = ""
    digest: str = ""
    """Equal in two states if the node stands for the same thing; if empty, labels are compared."""
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
    """A graph to draw."""

    nodes: tuple[PaneNode, ...]
    edges: tuple[PaneEdge, ...]


@dataclass(frozen=True, slots=True)
class GraphPane:
    """A graph that is made from observations."""

    kind: str
    """One word that identifies the graph in URLs."""
    title: str
    read: Callable[[Sequence[Any], str], PaneGraph]
    """Makes the graph from the values of the observations and the name of a function; an empty name
    means the whole program."""
    observations: tuple[str, ...] = ()
    """The observations that `read` takes; if empty, it takes the text of the function."""
    of_function: bool = False
    """True if a graph shows one function, not the whole program."""


@dataclass(frozen=True, slots=True)
class Panes:
    """Every pane of an environment."""

    text: TextPane | None = None
    """The program as it is now."""
    assembly: TextPane | None = None
    source: TextPane | None = None
    """The source of the program; None if only the benchmark may have it."""
    costs: tuple[CostPane, ...] = ()
    vectors: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Observations that are vectors, and the names of their elements if these have names."""
    graphs: tuple[GraphPane, ...] = ()
    running: frozenset[str] = frozenset()
    """Observations that run the program."""
    changes: str = ""
    """The observation that describes the effect of the last action, in the compiler's terms."""
    question: str = ""
    """The observation that describes the next decision, if the compiler requests decisions."""
    paste: Callable[[str, str, str], Benchmark] | None = None
    """Makes a program from untrusted text, the name of its format and a name for it, in a sandbox.
    None reads the text as a file."""


def cost_panes(
    costs: Iterable[Cost], titles: Mapping[str, str], *, at_once: Iterable[str] = ()
) -> tuple[CostPane, ...]:
    """Return the panes of `costs` that have one of `titles`, in the order of `titles`."""
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


def runs_program(env: "CompilerEnv", name: str) -> bool:
    """Return whether the observation `name`, or one that it is derived from, runs the program."""
    spec = env.observation.spaces.get(name)
    return not env.panes.running.isdisjoint((name, name if spec is None else spec.base_id))


def panes_from_spaces(observations: ObservationView, rewards: Iterable[Reward]) -> Panes:
    """Return panes derived from the spaces, for an environment that lists none.

    The first text is the program, numbers that rewards need are costs, and short boxes are
    vectors. Observations that are not deterministic are assumed to run the program.
    """
    needed = dict.fromkeys(name for reward in rewards for name in reward.observation_spaces)
    specs = observations.spaces
    numbers = [name for name in needed if name in specs and isinstance(specs[name].space, Scalar)]
    texts = [name for name, spec in specs.items() if _is_text(spec.space)]
    return Panes(
        text=TextPane(texts[0]) if texts else None,
        costs=tuple(CostPane(name, name, at_once=specs[name].deterministic) for name in numbers),
        vectors={
            name: ()
            for name, spec in specs.items()
            if spec.deterministic and _is_vector(spec.space)
        },
        running=frozenset(name for name, spec in specs.items() if not spec.deterministic),
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
