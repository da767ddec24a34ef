# SPDX-License-Identifier: MIT
"""Hides the packages next door from every Python that starts with this folder in ``PYTHONPATH``."""

import sys
from typing import Any

sys.path[:] = [path for path in sys.path if "/packages/" not in path]
for finder in sys.meta_path:  # that of an editable installation has a table of modules
    tables: list[dict[str, Any]] = [t for t in vars(finder).values() if isinstance(t, dict)]
    for table in tables:
        for name in [name for name in table if str(name).startswith("compiler_gym_")]:
            del table[name]
