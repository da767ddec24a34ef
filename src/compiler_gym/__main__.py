# SPDX-License-Identifier: MIT
"""The module for ``python -m compiler_gym``: the command line, if its script is not on PATH."""

import sys

from compiler_gym.cli import main

if __name__ == "__main__":
    sys.exit(main())
