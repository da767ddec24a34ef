# SPDX-License-Identifier: MIT
"""Find the compiled driver, which runs a compiler and completes the objects that it writes.

A build calls its compiler thousands of times, so this module imports as little as possible.
"""

import os
import shutil
import sys


def find_compiled_driver(verb: str) -> str:
    """Return the path of the driver for C (``cc``) or C++ (``cxx``); exit if it is missing."""
    name = f"compiler-gym-{verb}"
    folders = [os.path.dirname(sys.argv[0]), os.path.dirname(sys.executable)]
    path = os.pathsep.join([*filter(None, folders), os.environ.get("PATH", os.defpath)])
    driver = shutil.which(name, path=path)
    if driver is None:
        sys.exit(
            f"compiler-gym {verb}: {name} not found next to {sys.executable} or on PATH: "
            "install compiler_gym again, or run `make setup` in a checkout"
        )
    return driver
