# SPDX-License-Identifier: MIT
"""Hand a call of ``compiler-gym cc --plan`` over to the compiled driver, before anything is loaded.

A build calls its compiler thousands of times: what is imported here is what every call costs.
"""

import os
import shutil
import sys

__all__ = ["become_driver"]


def become_driver(words: list[str]) -> None:
    """Become the driver of the language that `words` name first, or exit where there is none."""
    name = f"compiler-gym-{words[0]}"
    folders = [os.path.dirname(sys.argv[0]), os.path.dirname(sys.executable)]
    path = os.pathsep.join([*filter(None, folders), os.environ.get("PATH", os.defpath)])
    found = shutil.which(name, path=path)
    if found is None:
        sys.exit(
            f"compiler-gym {words[0]}: expected the program {name} beside {sys.executable} or on "
            "PATH: install compiler_gym again, in a checkout with `make setup`"
        )
    os.execv(found, [found, *words[1:]])
