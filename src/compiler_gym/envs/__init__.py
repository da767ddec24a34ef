# SPDX-License-Identifier: MIT
"""The environments, a folder for each compiler; `compiler_gym.make` finds them by name.

``CompilerEnv``, ``GccEnv``, ``LlvmEnv``, ``LoopToolEnv`` and ``COMPILER_GYM_ENVS`` are fetched on
first use, under the path CompilerGym 0.2.5 documents.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.core import CompilerEnv
    from compiler_gym.envs.gcc.environment import GccEnv
    from compiler_gym.envs.llvm.environment import LlvmEnv
    from compiler_gym.envs.loop_tool.environment import LoopToolEnv
    from compiler_gym.registration import COMPILER_GYM_ENVS

__all__ = ["COMPILER_GYM_ENVS", "CompilerEnv", "GccEnv", "LlvmEnv", "LoopToolEnv"]

__getattr__ = door(__name__)
