# SPDX-License-Identifier: MIT
"""What the site has beyond the pages that people write.

Each file with a ``setup`` is an extension of Sphinx, named in docs/conf.py.
``python -m docs.site`` builds the site.
"""

import tomllib
from pathlib import Path

from compiler_gym.version import __version__

__all__ = ["ROOT", "project", "release"]

ROOT = Path(__file__).parents[2]


def project() -> dict[str, object]:
    """Return what pyproject.toml says of the project."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def release() -> str:
    """Return the version the site is of."""
    return __version__
