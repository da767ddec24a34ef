# SPDX-License-Identifier: MIT
"""The two tools of Compiler-R1 (arXiv 2506.15701) under their original names, for LLVM programs.

Its models run here unchanged. Its metric compares with ``opt -Oz`` on functions without the
attributes of ``clang -Oz``; answers also include the improvement over ``clang -Oz``.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Self

from compiler_gym.errors import InvalidParameterError
from compiler_gym.search import run_search
from compiler_gym.spaces import action_names
from compiler_gym_agents import Calls, Tool, Toolbox

__all__ = ["CompilerR1"]

_COUNT = "IrInstructionCount"
_LONGEST_ANSWER = 8_000
_SPACES = ("PassesAndPipelines", "CompilerGymV0")
"""The action spaces to search for flags: today's, then that of CompilerGym 0.2.5."""
_FILE = re.compile(r"(?:.*/)?(?P<dataset>[\w.-]+-v\d+)_(?P<name>[\w.-]+?)\.(?:ll|bc)")
"""The name of a program in its datasets: ``test/cbench-v1/cbench-v1_adpcm.ll``."""


class CompilerR1:
    """The tools ``instrcount`` and ``find_best_pass_sequence``, with the interface of `Toolbox`.

    >>> with CompilerR1() as tools:
    ...     answer = tools.call("instrcount", {
    ...         "filename": "cbench-v1_crc32.ll", "optimization_flags": ["--sroa", "--gvn"]})
    ...     "improvement_over_oz" in answer
    True

    Args:
        steps: The number of new actions that a search tries; the result is reproducible.
        seed: The seed of the search.
        algorithm: One of `compiler_gym.search.ALGORITHMS`.
    """

    def __init__(self, *, steps: int = 2_000, seed: int = 0, algorithm: str = "portfolio") -> None:
        self._steps, self._seed, self._algorithm = steps, seed, algorithm
        self._toolbox = Toolbox("llvm-v0", action_space=_SPACES[0], reward_space=f"{_COUNT}OptOz")
        methods = (self.instrcount, self.find_best_pass_sequence)
        self._calls = Calls(methods, longest_answer=_LONGEST_ANSWER)

    def tools(self) -> list[Tool]:
        """Return the two tools."""
        return list(self._calls.tools.values())

    def call(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> str:
        """Return the answer to a call; see `Toolbox.call`."""
        return self._calls.answer(name, arguments)[0]

    def instrcount(self, filename: str, optimization_flags: list[str]) -> dict[str, Any]:
        """Count instructions in LLVM IR code after applying optimization flags.

        Args:
            filename: Name of the program, as cbench-v1_adpcm.ll or benchmark://cbench-v1/adpcm.
            optimization_flags: Flags to apply in order, such as --sroa or --early-cse.
        """
        if not optimization_flags:
            raise InvalidParameterError("no optimization flags; pass at least one")
        env = self._toolbox.env
        space, names = _actions_of_flags(env.action_spaces, optimization_flags)
        env.reset(benchmark=_program_named(filename), action_space=space)
        *_, info = env.multistep([env.action_space[name] for name in names])
        if "error" in info:
            raise info["error"]
        return {"filename": filename, "status": "success", **self._measure()}

    def find_best_pass_sequence(self, filename: str) -> dict[str, Any]:
        """Find the best LLVM optimization pass sequence for a program.

        Args:
            filename: Name of the program, as cbench-v1_adpcm.ll or benchmark://cbench-v1/adpcm.
        """
        address, env = _program_named(filename), self._toolbox.env
        env.reset(benchmark=address, action_space=_SPACES[0])
        (best,) = run_search(
            env.fork,
            [address],
            algorithm=self._algorithm,
            steps=self._steps,
            seconds=None,
            seed=self._seed,
            jobs=1,
        )
        if best.actions:
            env.multistep(best.actions)
        measured = self._measure()
        return {
            "status": "success",
            "best_pass_sequence": [f"--{name.lstrip('-')}" for name in best.action_names],
            "improvement_percentage": 100 * measured["improvement_over_oz"],
            **measured,
        }

    def close(self) -> None:
        """End the processes."""
        self._toolbox.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: object) -> None:
        self.close()

    def _measure(self) -> dict[str, Any]:
        observation = self._toolbox.env.observation
        count = observation[_COUNT]
        opt_count, clang_count = (observation[f"{_COUNT}{level}"] for level in ("OptOz", "Oz"))
        return {
            "improvement_over_oz": (opt_count - count) / opt_count,
            "improvement_over_clang_oz": (clang_count - count) / clang_count,
            "instruction_count": int(count),
        }


def _program_named(filename: str) -> str:
    """Return the address of the program for a file name of Compiler-R1's datasets."""
    if "://" in filename and filename.partition("://")[0] in ("benchmark", "generator"):
        return filename
    match = _FILE.fullmatch(filename.strip())
    if match is None:
        raise InvalidParameterError(
            f"{filename!r:.100} is not a program; write DATASET_NAME.ll, such as "
            "cbench-v1_adpcm.ll, or benchmark://DATASET/NAME"
        )
    return f"benchmark://{match['dataset']}/{match['name']}"


def _actions_of_flags(spaces: Sequence[Any], flags: Sequence[str]) -> tuple[str, list[str]]:
    """Return the first action space with all of `flags`, and the names of its actions."""
    for candidate in _SPACES:
        available = next(set(action_names(space)) for space in spaces if space.name == candidate)
        actions = [_action_of_flag(flag, available) for flag in flags]
        if None not in actions:
            return candidate, [name for name in actions if name is not None]
    raise InvalidParameterError(
        f"neither {_SPACES[0]} nor {_SPACES[1]} has all of {', '.join(flags)!r:.300}; use names "
        "such as --sroa, --gvn or -Oz"
    )


def _action_of_flag(flag: str, available: set[str]) -> str | None:
    bare = flag.strip().lstrip("-")
    return next((name for name in (flag, bare, f"-{bare}") if name in available), None)
