# SPDX-License-Identifier: MIT
"""Pass a call of ``compiler-gym cc --plan`` to the compiled driver, before other imports.

A build calls its compiler thousands of times, so this module imports as little as possible.
"""

import os

from compiler_gym.tools.tune.builds import find_compiled_driver

__all__ = ["become_driver"]


def become_driver(words: list[str]) -> None:
    """Replace this process by the driver for the verb in `words`; exit if it is missing."""
    driver = find_compiled_driver(words[0])
    os.execv(driver, [driver, *words[1:]])
