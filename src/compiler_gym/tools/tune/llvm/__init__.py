# SPDX-License-Identifier: MIT
"""LLVM's part of ``compiler-gym tune``: make one linked file smaller or faster.

``flags`` lists the flags that a plan may add, ``linker`` compiles and links the sources of a
binary, and ``plugin`` loads the size plug-in, whose ``rewrites`` can be counted. ``program`` joins
all sources into one module. ``plans`` has the three kinds of plans, each with its build and
its script. ``deciding`` converts decisions between a journal and plans, ``size`` searches for those
that make the binary small, ``slowdown`` limits their cost, and ``speed`` keeps a build with a
profile if it is faster. ``llvm_tuner`` is the entry point for `compiler_gym.tools.tune`; ``driver``
serves ``compiler-gym cc`` and ``rust``.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.tools.tune.llvm.flags import (
        FOLDING,
        FRAMES,
        LEAVES,
        SMALL,
        frame_words,
        list_functions,
    )
    from compiler_gym.tools.tune.llvm.linker import (
        QUIET,
        Linker,
        late_flags,
        link_time_flags,
        plain_words,
    )
    from compiler_gym.tools.tune.llvm.llvm_tuner import LlvmTuner
    from compiler_gym.tools.tune.llvm.plans import checked
    from compiler_gym.tools.tune.llvm.plugin import (
        PLUGIN,
        SETTINGS,
        LinkCommand,
        explain_problem,
        find_plugin,
        plugin_environment,
        plugin_hash,
    )
    from compiler_gym.tools.tune.llvm.rewrites import find_rewrite

__all__ = [
    "FOLDING",
    "FRAMES",
    "LEAVES",
    "PLUGIN",
    "QUIET",
    "SETTINGS",
    "SMALL",
    "LinkCommand",
    "Linker",
    "LlvmTuner",
    "checked",
    "explain_problem",
    "find_plugin",
    "find_rewrite",
    "frame_words",
    "late_flags",
    "link_time_flags",
    "list_functions",
    "plain_words",
    "plugin_environment",
    "plugin_hash",
]

__getattr__ = door(__name__)
