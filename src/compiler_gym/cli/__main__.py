# SPDX-License-Identifier: MIT
"""The module for ``python -m compiler_gym.cli``, the same as ``compiler-gym``."""

from compiler_gym.cli import main

if __name__ == "__main__":
    main()
