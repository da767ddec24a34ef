# SPDX-License-Identifier: MIT
"""The environment of the fake session, with programs and a reward.

It is a minimal example of a plug-in. It is never registered: tests instantiate its class.
"""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from compiler_gym.core import CompilerEnv, DerivedObservation
from compiler_gym.datasets import Benchmark, BenchmarkUri, Dataset
from compiler_gym.errors import UnknownNameError
from compiler_gym.service import SessionSource
from compiler_gym.spaces import CostReward


class NumbersDataset(Dataset):
    """A dataset in which ``benchmark://fake-v0/N`` is the program `N`; it lists 0 to 9."""

    def __init__(self) -> None:
        super().__init__("benchmark://fake-v0", "Numbers", "MIT")

    @property
    def size(self) -> int:
        """The number of listed programs, 10."""
        return 10

    def benchmark_uris(self) -> Iterator[str]:
        """Yield the addresses of 0 to 9."""
        yield from (f"{self.name}/{number}" for number in range(10))

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> Benchmark:
        """Return the program for the number in the path."""
        number = uri.path.strip("/")
        if not number.lstrip("-").isdigit():
            raise UnknownNameError(f"no program {number!r} in {self.name}; name a number")
        return Benchmark(uri, number.encode())


class FakeEnv(CompilerEnv):
    """An environment for lowering a number.

    `session` and `options` choose the session; other arguments are those of `CompilerEnv`.
    """

    default_benchmark: ClassVar[str | None] = "benchmark://fake-v0/7"
    state_observation: ClassVar[str | None] = "number"

    def __init__(
        self,
        *,
        session: str = "compiler_gym.testing.fakes:FakeSession",
        options: Sequence[tuple[str, str]] = (),
        **arguments: Any,
    ) -> None:
        super().__init__(
            SessionSource(session, tuple(options)),
            derived_observation_spaces=(
                DerivedObservation("half", "number", lambda number: number // 2),
            ),
            rewards=(
                CostReward("number", cost="number", initial="number", platform_dependent=False),
            ),
            datasets=(NumbersDataset(),),
            **arguments,
        )
