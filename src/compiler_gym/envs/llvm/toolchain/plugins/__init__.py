# SPDX-License-Identifier: MIT
"""Pass plug-ins: shared libraries that add the user's own passes to LLVM.

``plugin`` reads and identifies the files without running their code. ``session`` loads them in a
worker, never in the user's process, with an engine that shares its LLVM with them.
"""

from compiler_gym.envs.llvm.toolchain.plugins.plugin import (
    Plugin,
    list_recorded_plugins,
    load_options,
    plugin_source,
    require_recorded,
)

__all__ = ["Plugin", "list_recorded_plugins", "load_options", "plugin_source", "require_recorded"]
