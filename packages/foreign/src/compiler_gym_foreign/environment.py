# SPDX-License-Identifier: MIT
"""The environment for a session that is a program: it adds only the declared parts."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from compiler_gym.core import CompilerEnv
from compiler_gym.datasets import Dataset, FilesDataset
from compiler_gym.errors import InvalidParameterError, PluginError
from compiler_gym.service import SessionSource, describe_source
from compiler_gym.session import ObservationSpec, ScalarSpec
from compiler_gym.spaces import CostReward
from compiler_gym_foreign.declaration import Dialect, Plugin, RewardRow, read_plugin
from compiler_gym_foreign.model_runner import runner_source

__all__ = ["ServiceEnv"]


class ServiceEnv(CompilerEnv):
    """Optimise a program in a compiler that speaks the session protocol.

    Actions and observations come from the program, rewards and datasets from the declaration in
    `plugin`. Without a declaration, every numeric observation is a cost to lower.

    Args:
        service: The program and its arguments, instead of the declared ones.
        plugin: The TOML file that declares the compiler.
        carrier: The transport of the messages: ``descriptor``, ``stdio`` or ``socket``.
        **options: The arguments of `CompilerEnv`.

    Raises:
        InvalidParameterError: There is neither a program nor a declaration.
        PluginError: The declaration does not match the program.
        ServiceInitError: The program does not start.
    """

    def __init__(
        self,
        service: Sequence[str] | None = None,
        *,
        plugin: str | Path | None = None,
        carrier: str | None = None,
        **options: Any,
    ) -> None:
        declared = None if plugin is None else read_plugin(plugin)
        if service is None and declared is None:
            raise InvalidParameterError("no compiler is given: pass service=[...] or plugin=FILE")
        command = service or (() if declared is None else declared.service)
        transport = carrier or ("descriptor" if declared is None else declared.carrier)
        if declared is not None and declared.dialect is Dialect.MODEL_RUNNER:
            source = runner_source(list(command), declared.choices)
        else:
            source = SessionSource.of_program(command, transport)
        observed = {spec.name: spec for spec in _specs_of_program(source, options)}
        rows = () if declared is None else declared.rewards
        if declared is not None:
            # On this object, because another declaration is another environment.
            self.default_benchmark = declared.benchmark  # pyright: ignore[reportAttributeAccessIssue]
            self.state_observation = declared.state  # pyright: ignore[reportAttributeAccessIssue]
        super().__init__(
            source,
            rewards=[_reward_of_row(row, observed) for row in rows or _make_rows(observed)],
            datasets=list(_make_datasets(declared)),
            **options,
        )


def _specs_of_program(source: SessionSource, options: dict[str, Any]) -> list[ObservationSpec]:
    if options.get("isolation", "process") != "process":
        return []  # the constructor reports the error
    return describe_source(source, in_process=False).observation_spaces


def _make_datasets(declared: Plugin | None) -> Iterator[Dataset]:
    for row in () if declared is None else declared.datasets:
        yield FilesDataset(
            Path(declared.folder if declared else "", row.folder),
            row.suffix,
            name=row.name,
            description=row.description,
            license=row.license,
        )
    yield FilesDataset(
        "/",
        name="file://",
        description="A program in a file",
        license="the file's own",
        hidden=True,
    )


def _make_rows(observed: dict[str, ObservationSpec]) -> list[RewardRow]:
    numbers = [spec.name for spec in observed.values() if isinstance(spec.space, ScalarSpec)]
    return [RewardRow(name, name) for name in numbers]


def _reward_of_row(row: RewardRow, observed: dict[str, ObservationSpec]) -> CostReward:
    for name in (row.cost, row.initial or row.cost):
        if name not in observed:
            raise PluginError(
                f"the reward {row.name} needs the observation {name!r}; there are {list(observed)}"
            )
    cost = observed[row.cost]
    return CostReward(
        row.name,
        cost=row.cost,
        initial=row.initial or row.cost,
        platform_dependent=cost.platform_dependent,
        deterministic=cost.deterministic,
    )
