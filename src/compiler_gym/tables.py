# SPDX-License-Identifier: MIT
"""The tables of a compiler: a row for each observation, and one for each cost.

Observation spaces, baselines and rewards are derived from the rows. A row has the name of the
function that computes it, so that reading a table loads no compiler. Building a table checks
the names; `Table.bind` replaces them with functions in the worker.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct, structs

from compiler_gym.errors import TableError
from compiler_gym.session import ObservationSpec, SpaceSpec

if TYPE_CHECKING:
    from compiler_gym.spaces import Reward

__all__ = ["Cost", "Level", "Observation", "Table", "cost_rewards"]

_Computation = TypeVar("_Computation")


class Observation(Struct, frozen=True, kw_only=True):
    """One observation: its name, its space and the function that computes it.

    >>> row = Observation(
    ...     name="size", space=None, description="The size in bytes.", compute="count_bytes"
    ... )
    >>> row.deterministic, row.platform_dependent
    (True, False)
    """

    name: str
    space: SpaceSpec | None
    """The space of its values; None until the engine describes it, in the worker."""
    description: str
    compute: str
    """The name in the worker's engine of the function that computes it."""
    deterministic: bool = True
    """True if an unchanged program always gives the same value."""
    platform_dependent: bool = False
    """True if the value may differ on another machine."""
    default: Any = None
    """The plain value reported when the episode has failed."""
    level: str = ""
    """The optimisation level applied to the program first; empty for the current program."""

    def spec(self) -> ObservationSpec:
        """Return the description that clients get.

        Raises:
            TableError: The row has no space.
        """
        if self.space is None:
            raise TableError(f"{self.name} has no space: add one to its row or to {self.compute!r}")
        return ObservationSpec(
            self.name,
            self.space,
            self.description,
            deterministic=self.deterministic,
            platform_dependent=self.platform_dependent,
            default=self.default,
        )


class Level(Struct, frozen=True):
    """A standard optimisation level of the compiler: a baseline for every cost.

    >>> Level("_os", "-Os", "compiled with -Os alone").name
    '_os'
    """

    name: str
    """The suffix of the names of its baselines and rewards."""
    option: str
    """The `level` of its observations, in the worker's syntax."""
    description: str
    """The end of the descriptions of its observations."""
    label: str = ""
    """Its name in tables of results; if empty, the option with one dash."""


class Cost(Struct, frozen=True, kw_only=True):
    """A cost that actions can lower: an observation, its baselines and its rewards.

    >>> cost = Cost(
    ...     name="size", observation="size_bytes", unit="bytes", platform_dependent=False,
    ...     levels=(Level("_o0", "-O0", "at -O0"), Level("_os", "-Os", "at -Os")),
    ...     scales=("_os",), normalized="_norm",
    ... )
    >>> cost.initial, cost.baselines
    ('size_o0', ('size_o0', 'size_os'))
    >>> from msgspec.structs import replace
    >>> replace(cost, at_reset=Level("_initial", "reset", "before any action")).initial
    'size_initial'
    """

    name: str
    """The prefix of the names of its baselines and scaled rewards."""
    observation: str
    """The name of the observation to lower, and of the reward for lowering it."""
    unit: str
    """The unit of its values, such as ``bytes``."""
    platform_dependent: bool
    """True if the value may differ on another machine; the same as the observation's."""
    levels: tuple[Level, ...]
    """The levels to which it is compared."""
    at_reset: Level | None = None
    """The level of the program before any action, from which rewards count. None if that is
    always the first of `levels`."""
    deterministic: bool = True
    """True if an unchanged program always gives the same value; the same as the observation's."""
    scales: tuple[str, ...] = ()
    """The names of the levels whose saving earns a reward of 1.0."""
    normalized: str = ""
    """The suffix of the reward in units of the initial cost; empty for no such reward."""

    @property
    def initial(self) -> str:
        """The name of the observation of the cost before any action."""
        return self.baselines[0] if self.at_reset is None else f"{self.name}{self.at_reset.name}"

    @property
    def baselines(self) -> tuple[str, ...]:
        """The names of the baseline observations."""
        return tuple(f"{self.name}{level.name}" for level in self.levels)

    def baseline_rows(self, observation: Observation) -> Iterator[Observation]:
        """Yield one row for `observation` at each level and, if `at_reset` is given, at reset."""
        first = observation.description.split(".")[0]
        extra = () if self.at_reset is None else (self.at_reset,)
        for level in (*self.levels, *extra):
            yield structs.replace(
                observation,
                name=f"{self.name}{level.name}",
                description=f"{first}, {level.description}.",
                level=level.option,
            )


class Table:
    """Every observation and cost of a compiler, in the order in which they are listed.

    Args:
        rows: Observations and costs; the baselines of a cost are listed in its place.

    Raises:
        TableError: The rows contradict each other.
    """

    def __init__(self, rows: Iterable[Observation | Cost]) -> None:
        rows = tuple(rows)
        observations = [row for row in rows if isinstance(row, Observation)]
        self.costs = tuple(row for row in rows if isinstance(row, Cost))
        by_name = {row.name: row for row in observations}
        _check_costs(self.costs, by_name)
        self.observations = tuple(_rows_with_baselines(rows, by_name))
        _check_rows(self.observations)
        _check_unique("reward", [name for cost in self.costs for name in _reward_names(cost)])

    def __getitem__(self, name: str) -> Observation:
        """Return the row of the observation `name`; raise `KeyError` if there is none."""
        row = next((r for r in self.observations if r.name == name), None)
        if row is None:
            raise KeyError(name)
        return row

    def specs(self) -> tuple[ObservationSpec, ...]:
        """Return the descriptions of the observations that clients get.

        Raises:
            TableError: A row has no space.
        """
        return tuple(row.spec() for row in self.observations)

    def bind(self, engine: Mapping[str, _Computation]) -> dict[str, _Computation]:
        """Return the function that computes each observation, by observation name.

        Args:
            engine: The functions by their names in `compute`.

        Raises:
            TableError: The engine does not have a function that a row names.
        """
        unknown = sorted({f"{r.compute!r}" for r in self.observations if r.compute not in engine})
        if unknown:
            users = [r.name for r in self.observations if r.compute not in engine]
            raise TableError(
                f"the engine has no {', '.join(unknown)}, which {', '.join(users)} "
                f"need: it has {', '.join(sorted(engine))}"
            )
        return {row.name: engine[row.compute] for row in self.observations}


def cost_rewards(costs: Iterable[Cost], **options: Any) -> "list[Reward]":
    """Return new rewards for lowering each cost: a plain one, and the scaled ones of its row.

    Args:
        costs: The costs, from `Table.costs`.
        **options: Further arguments of each `compiler_gym.spaces.CostReward`.
    """
    from compiler_gym.spaces import (  # loads Gymnasium, which workers must not need
        BaselineReward,
        CostReward,
        NormalizedCostReward,
    )

    rewards: list[Reward] = []
    for cost in costs:
        shared: dict[str, Any] = {
            **options,
            "cost": cost.observation,
            "initial": cost.initial,
            "deterministic": cost.deterministic,
            "platform_dependent": cost.platform_dependent,
            "unit": cost.unit,
            "levels": {
                level.label or f"-{level.option.lstrip('-')}": f"{cost.name}{level.name}"
                for level in cost.levels
                if level.name in cost.scales
            },
        }
        rewards.append(CostReward(cost.observation, **shared))
        if cost.normalized:
            rewards.append(NormalizedCostReward(f"{cost.name}{cost.normalized}", **shared))
        for scale in cost.scales:
            name = f"{cost.name}{scale}"
            rewards.append(BaselineReward(name, baseline=name, **shared))
    return rewards


def _rows_with_baselines(
    rows: Iterable[Observation | Cost], by_name: Mapping[str, Observation]
) -> Iterator[Observation]:
    for row in rows:
        if isinstance(row, Cost):
            yield from row.baseline_rows(by_name[row.observation])
        else:
            yield row


def _reward_names(cost: Cost) -> Iterator[str]:
    yield cost.observation
    if cost.normalized:
        yield f"{cost.name}{cost.normalized}"
    yield from (f"{cost.name}{scale}" for scale in cost.scales)


def _check_costs(costs: Sequence[Cost], observations: Mapping[str, Observation]) -> None:
    for cost in costs:
        observation = observations.get(cost.observation)
        if observation is None:
            raise TableError(
                f"the cost {cost.name} has no observation {cost.observation!r}: "
                f"there are {', '.join(observations)}"
            )
        if observation.platform_dependent != cost.platform_dependent:
            raise TableError(
                f"the cost {cost.name} and its observation {cost.observation} must agree on "
                "`platform_dependent`"
            )
        if observation.deterministic != cost.deterministic:
            raise TableError(
                f"the cost {cost.name} and its observation {cost.observation} must agree on "
                "`deterministic`"
            )
        if not cost.unit:
            raise TableError(f"the cost {cost.name} has no unit")
        if not cost.levels:
            raise TableError(f"the cost {cost.name} has no baseline: add at least one level")
        levels = [level.name for level in cost.levels]
        missing = [scale for scale in cost.scales if scale not in levels]
        if missing:
            raise TableError(
                f"the cost {cost.name} has no baseline {', '.join(missing)}, which scales a "
                f"reward: there are {', '.join(levels)}"
            )


def _check_rows(rows: Sequence[Observation]) -> None:
    _check_unique("observation", [row.name for row in rows])
    for row in rows:
        if not row.name:
            raise TableError(f"a row for {row.compute!r} has no name")
        if not row.compute:
            raise TableError(f"{row.name or 'a row'} has no function in `compute`")
        if not row.description:
            raise TableError(f"{row.name} has no description")


def _check_unique(kind: str, names: Sequence[str]) -> None:
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise TableError(f"several rows define the {kind} {', '.join(repeated)}")
