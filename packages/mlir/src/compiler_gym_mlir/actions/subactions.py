# SPDX-License-Identifier: MIT
"""CompilerGym 0.2.5's encoding of the action of `MatrixMultiplication` for agents.

Everything is a number: a tile size is a power of two, an order is the number of a permutation, and
every tiling except the first has a flag for its presence.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from compiler_gym.core import CompilerEnv
from compiler_gym.errors import InvalidParameterError
from compiler_gym.spaces import Box, Dict, Discrete, NamedDiscrete, Tuple
from compiler_gym_mlir.actions import MATRIX

__all__ = ["ORDERS", "TILE_SIZES", "MlirRlWrapperEnv", "convert_action", "make_mlir_rl_wrapper_env"]

TILE_SIZES = tuple(2**power for power in range(11))
"""The tile sizes that numbers stand for: 1 to 1024."""
ORDERS = tuple(itertools.permutations(range(3)))
"""The interchange vectors that numbers stand for."""
_MOST_TILINGS = 4


def convert_action(action: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the action of `MatrixMultiplication` that `action` encodes as numbers.

    >>> tile = {"tile_sizes": [3, 5, 2], "interchange_vector": 0, "promote": 0,
    ...         "promote_full_tile": 0, "loop_type": 0}
    >>> vectors = {"vectorize_to": 2, "vector_transfer_split": 0, "unroll_vector_transfers": 1}
    >>> first = {"tile_options": tile, "vectorize_options": vectors}
    >>> tilings = convert_action([first, {"is_present": 0}, {"is_present": 1, "space": first}])
    >>> len(tilings), tilings[1]["tile_options"]["tile_sizes"]
    (2, [8, 32, 4])
    """
    present = (part for part in action if part.get("is_present", True))
    return [_tiling(part.get("space", part)) for part in present]


def _tiling(encoded: Mapping[str, Any]) -> dict[str, Any]:
    tile, vectors = encoded["tile_options"], encoded["vectorize_options"]
    return {
        "tile_options": {
            "tile_sizes": [TILE_SIZES[int(size)] for size in tile["tile_sizes"]],
            "interchange_vector": list(ORDERS[int(tile["interchange_vector"])]),
            "promote": bool(tile["promote"]),
            "promote_full_tile": bool(tile["promote_full_tile"]),
            "loop_type": int(tile["loop_type"]),
        },
        "vectorize_options": {
            "vectorize_to": int(vectors["vectorize_to"]),
            "vector_transfer_split": int(vectors["vector_transfer_split"]),
            "unroll_vector_transfers": bool(vectors["unroll_vector_transfers"]),
        },
    }


class MlirRlWrapperEnv(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An `MlirEnv` whose actions are up to `max_subactions` tilings encoded as numbers.

    The first tiling is always present; each further one has ``is_present`` and ``space``. The
    environment observes the median of ``Runtime`` as an array of one number, which is 0 before
    anything has run, and earns ``runtime``.
    """

    def __init__(self, env: CompilerEnv, max_subactions: int = _MOST_TILINGS) -> None:
        super().__init__(env)
        first = _make_tiling("tiling")
        optional = [
            Dict(
                {"is_present": _flag_space("is_present"), "space": _make_tiling("tiling")},
                name=f"tiling {number}",
            )
            for number in range(2, max_subactions + 1)
        ]
        self.action_space = Tuple([first, *optional], name=MATRIX)
        self.observation_space = Box(0, np.inf, "Runtime", (1,), np.float64)
        env.action_space = MATRIX
        env.observation_space = "Runtime"
        env.reward_space = "runtime"
        env.reset()

    def reset(self, **arguments: Any) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Start an episode and return 0, because nothing has run."""
        return np.zeros(1), self.env.reset(**arguments)[1]

    def step(self, action: Any) -> Any:
        """Take the only step of the episode."""
        times, *results = self.env.step(convert_action(action))
        return np.array([np.median(times) if len(times) else 0.0]), *results


def _make_tiling(name: str) -> Dict:
    tile = {
        "interchange_vector": Discrete(len(ORDERS), "interchange_vector"),
        "tile_sizes": Tuple(
            [NamedDiscrete(map(str, TILE_SIZES), f"tile_sizes[{loop}]") for loop in range(3)],
            name="tile_sizes",
        ),
        "promote": _flag_space("promote"),
        "promote_full_tile": _flag_space("promote_full_tile"),
        "loop_type": NamedDiscrete(["loops", "affine_loops"], "loop_type"),
    }
    vectors = {
        "vectorize_to": NamedDiscrete(["dot", "matmul", "outer_product"], "vectorize_to"),
        "vector_transfer_split": NamedDiscrete(
            ["none", "linalg_copy", "vector_transfer"], "vector_transfer_split"
        ),
        "unroll_vector_transfers": _flag_space("unroll_vector_transfers"),
    }
    return Dict(
        {
            "tile_options": Dict(tile, name="tile_options"),
            "vectorize_options": Dict(vectors, name="vectorize_options"),
        },
        name=name,
    )


def _flag_space(name: str) -> NamedDiscrete:
    return NamedDiscrete(["False", "True"], name)


def make_mlir_rl_wrapper_env(
    env: CompilerEnv, max_subactions: int | None = None
) -> MlirRlWrapperEnv:
    """Return `env` with actions encoded as numbers, which observes and earns its run time.

    Raises `InvalidParameterError` unless the number of tilings is 1 to 4.
    """
    most = _MOST_TILINGS if max_subactions is None else max_subactions
    if not 1 <= most <= _MOST_TILINGS:
        raise InvalidParameterError(f"max_subactions must be 1 to {_MOST_TILINGS} (got {most})")
    return MlirRlWrapperEnv(env, most)
