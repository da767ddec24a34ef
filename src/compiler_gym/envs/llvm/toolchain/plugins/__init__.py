# SPDX-License-Identifier: MIT
"""Passes of one's own: plug-ins, shared libraries that add passes to LLVM.

``plugin`` reads the files and says what they are, without running any of them.
``session`` loads them, in a worker and never in the user's process, with an engine that
shares its LLVM with them.
"""

from compiler_gym.envs.llvm.toolchain.plugins.plugin import (
    Plugin,
    load_options,
    plugin_source,
    recorded_plugins,
    require_recorded,
)

__all__ = ["Plugin", "load_options", "plugin_source", "recorded_plugins", "require_recorded"]
