# SPDX-License-Identifier: MIT
"""``make()`` and the catalogue of environments.

Compilers are found through the entry-point group ``compiler_gym.compilers``, the
bundled ones like a stranger's. Nothing of a compiler is loaded to list it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compiler_gym.core import CompilerEnv
    from compiler_gym.vector import CompilerVectorEnv

__all__ = ["COMPILER_GYM_ENVS", "Compiler", "EnvironmentId", "compilers", "make", "make_vec"]

GROUP = "compiler_gym.compilers"
_VECTORS = "compiler_gym.vector.entry"
"""Where Gymnasium finds vector forms; a name, because nothing is loaded to register."""


@dataclass(frozen=True, slots=True)
class EnvironmentId:
    """One registered environment and the arguments it is made with."""

    id: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Compiler:
    """What a plug-in names in the entry-point group: a compiler and its environments."""

    name: str
    description: str
    environment: str
    """``"package.module:Class"`` of the environment class."""
    environments: tuple[EnvironmentId, ...]
    nondeterministic: bool = False
    recorder: str = ""
    """``"package.module:function"`` that keeps what a run of a compiler compiled; it takes the
    command's words, its directory and the folder to keep it in."""
    database_reader: str = ""
    """``"package.module:function"`` that compiles what a ``compile_commands.json`` lists; it takes
    the file and whether to link per target, and returns programs by name and what failed why."""


@cache
def compilers() -> Mapping[str, Compiler]:
    """Return every installed compiler by name, the bundled ones first."""
    found = [entry.load() for entry in entry_points(group=GROUP)]
    found.sort(
        key=lambda compiler: (not compiler.environment.startswith("compiler_gym."), compiler.name)
    )
    return MappingProxyType({compiler.name: compiler for compiler in found})


def register_with_gymnasium() -> None:
    """Register every environment, plain and below the namespace ``compiler_gym``."""
    from gymnasium.envs.registration import register, registry

    for compiler in compilers().values():
        for environment in compiler.environments:
            for id in (environment.id, f"compiler_gym/{environment.id}"):
                if id not in registry:
                    register(
                        id,
                        entry_point=compiler.environment,
                        vector_entry_point=f"{_VECTORS}:{compiler.environment.replace(':', '.')}",
                        kwargs=dict(environment.kwargs),
                        nondeterministic=compiler.nondeterministic,
                        order_enforce=False,
                        disable_env_checker=True,
                    )


def make(id: str, **kwargs: Any) -> "CompilerEnv":
    """Return a new environment: ``gymnasium.make`` without its wrappers.

    Raises `gymnasium.error.NameNotFound` for an unknown id, `EnvironmentNotSupported`
    when the compiler cannot run here, and `InvalidParameterError` for a limit of steps.
    """
    import gymnasium

    from compiler_gym.errors import InvalidParameterError

    register_with_gymnasium()
    if "max_episode_steps" in kwargs:
        raise InvalidParameterError(
            "make() puts no wrapper around an environment: expected "
            "compiler_gym.wrappers.TimeLimit(env, steps), or gymnasium.make() for Gymnasium's own"
        )
    return gymnasium.make(id, **kwargs).unwrapped  # type: ignore[return-value]  # ours


def make_vec(
    id: str,
    num_envs: int = 1,
    *,
    wrappers: Iterable[Callable[[Any], Any]] = (),
    **arguments: Any,
) -> "CompilerVectorEnv":
    """Return `num_envs` environments as one, with a worker process each.

    `wrappers` are put around each environment, the first one innermost. Other arguments
    are those of `CompilerVectorEnv` (``autoreset_mode``, ``sampler``, ``max_episode_steps``,
    ``copy``) and of the environment. Raises as `make` does.
    """
    from compiler_gym.vector import make_vector

    around = list(wrappers)

    def make_env(**kwargs: Any) -> Any:
        env: Any = make(id, **kwargs)
        for wrapper in around:
            env = wrapper(env)
        return env

    return make_vector(make_env, num_envs=num_envs, **arguments)


class _Ids:
    """The ids of every registered environment, looked up when they are asked for."""

    def __iter__(self) -> Iterator[str]:
        return (env.id for compiler in compilers().values() for env in compiler.environments)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, id: object) -> bool:
        return any(id == known for known in self)

    def __getitem__(self, index: int) -> str:
        return list(self)[index]

    def __repr__(self) -> str:
        return repr(list(self))


COMPILER_GYM_ENVS = _Ids()
"""The ids of every registered environment."""
