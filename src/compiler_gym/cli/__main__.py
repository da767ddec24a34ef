# SPDX-License-Identifier: MIT
"""``python -m compiler_gym.cli``: the same as ``compiler-gym``."""

from compiler_gym.cli import main

if __name__ == "__main__":
    main()
