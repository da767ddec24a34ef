# SPDX-License-Identifier: MIT
"""The environments, a folder for each compiler; `compiler_gym.make` finds them by name.

``CompilerEnv``, ``GccEnv``, ``LlvmEnv``, ``LoopToolEnv`` and ``COMPILER_GYM_ENVS`` are fetched on
first use, under the path CompilerGym 0.2.5 documents; ``GccEnv`` and ``LoopToolEnv`` are in
separate packages.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.core import CompilerEnv
    from compiler_gym.envs.llvm.environment import LlvmEnv
    from compiler_gym.registration import COMPILER_GYM_ENVS

    # Declared, because the core imports no package.
    GccEnv: type[CompilerEnv]
    LoopToolEnv: type[CompilerEnv]

__all__ = ["COMPILER_GYM_ENVS", "CompilerEnv", "GccEnv", "LlvmEnv", "LoopToolEnv"]

__getattr__ = door(
    __name__, {"GccEnv": "compiler_gym_gcc", "LoopToolEnv": "compiler_gym_loop_tool"}
)
