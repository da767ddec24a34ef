# SPDX-License-Identifier: MIT
"""CompilerGym 0.2.5's way to let an agent choose the action of `MatrixMultiplication`.

Everything is a number: a tile size is a power of two, an order is the number of a permutation, and
every tiling but the first says whether it is there.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
from gymnasium.spaces import Dict, Discrete, MultiDiscrete

from compiler_gym.core import CompilerEnv
from compiler_gym.envs.mlir.actions import MATRIX
from compiler_gym.errors import InvalidParameterError

__all__ = ["ORDERS", "TILE_SIZES", "MlirRlWrapperEnv", "make_mlir_rl_wrapper_env", "matrix_action"]

TILE_SIZES = tuple(2**power for power in range(11))
"""What a number of a tile size stands for: 1 to 1024."""
ORDERS = tuple(itertools.permutations(range(3)))
"""What a number of an interchange vector stands for."""
_MOST = 4


def matrix_action(action: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the action of `MatrixMultiplication` that `action` numbers.

    >>> tile = {"is_present": 1, "tile_sizes": [3, 5, 2], "interchange_vector": 0, "promote": 0,
    ...         "promote_full_tile": 0, "loop_type": 0}
    >>> vectors = {"vectorize_to": 2, "vector_transfer_split": 0, "unroll_vector_transfers": 1}
    >>> made = matrix_action([{"tile_options": tile, "vectorize_options": vectors}])
    >>> made[0]["tile_options"]["tile_sizes"]
    [8, 32, 4]
    """
    made: list[dict[str, Any]] = []
    for number, part in enumerate(action):
        tile, vectors = part["tile_options"], part["vectorize_options"]
        if number and not tile["is_present"]:
            continue
        made.append(
            {
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
        )
    return made


class MlirRlWrapperEnv(gymnasium.Wrapper[Any, Any, Any, Any]):
    """An `MlirEnv` whose actions are `max_subactions` tilings in numbers."""

    def __init__(self, env: CompilerEnv, max_subactions: int) -> None:
        super().__init__(env)
        tile = Dict(
            {
                "is_present": Discrete(2),
                "tile_sizes": MultiDiscrete([len(TILE_SIZES)] * 3),
                "interchange_vector": Discrete(len(ORDERS)),
                "promote": Discrete(2),
                "promote_full_tile": Discrete(2),
                "loop_type": Discrete(2),
            }
        )
        vectors = Dict(
            {
                "vectorize_to": Discrete(3),
                "vector_transfer_split": Discrete(3),
                "unroll_vector_transfers": Discrete(2),
            }
        )
        one: Dict = Dict({"tile_options": tile, "vectorize_options": vectors})
        self.action_space = gymnasium.spaces.Tuple([one] * max_subactions)

    def step(self, action: Any) -> Any:
        """Make the one step of the episode."""
        return self.env.step(matrix_action(action))


def make_mlir_rl_wrapper_env(env: CompilerEnv, max_subactions: int = _MOST) -> MlirRlWrapperEnv:
    """Return `env` with the action space in numbers.

    Raises `InvalidParameterError` for a number of tilings that is not 1 to 4.
    """
    if not 1 <= max_subactions <= _MOST:
        raise InvalidParameterError(f"max_subactions is {max_subactions}: expected 1 to {_MOST}")
    env.action_space = MATRIX
    return MlirRlWrapperEnv(env, max_subactions)
