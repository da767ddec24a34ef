# SPDX-License-Identifier: MIT
"""Where the compiled driver is, which runs a compiler and finishes the objects that it makes.

A build calls its compiler thousands of times: what is imported here is what every call costs.
"""

import os
import shutil
import sys

__all__ = ["find_compiled_driver"]


def find_compiled_driver(verb: str) -> str:
    """Return the path of the driver for C (``cc``) or C++ (``cxx``), or exit without one."""
    name = f"compiler-gym-{verb}"
    folders = [os.path.dirname(sys.argv[0]), os.path.dirname(sys.executable)]
    path = os.pathsep.join([*filter(None, folders), os.environ.get("PATH", os.defpath)])
    found = shutil.which(name, path=path)
    if found is None:
        sys.exit(
            f"compiler-gym {verb}: expected the program {name} beside {sys.executable} or on "
            "PATH: install compiler_gym again, in a checkout with `make setup`"
        )
    return found
