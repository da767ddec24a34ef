# SPDX-License-Identifier: MIT
"""Hand a call of ``compiler-gym cc --plan`` over to the compiled driver, before anything is loaded.

A build calls its compiler thousands of times: what is imported here is what every call costs.
"""

import os

from compiler_gym.tools.tune.builds import find_compiled_driver

__all__ = ["become_driver"]


def become_driver(words: list[str]) -> None:
    """Become the driver of the language that `words` name first, or exit where there is none."""
    driver = find_compiled_driver(words[0])
    os.execv(driver, [driver, *words[1:]])
