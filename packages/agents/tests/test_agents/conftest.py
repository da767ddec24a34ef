# SPDX-License-Identifier: MIT
"""Agents are single files beside the package: tests load them as modules."""

from pathlib import Path
from typing import Any

from tests.loading import load_script

__all__ = ["load_agent"]

AGENTS = Path(__file__).parents[4] / "agents"


def load_agent(name: str) -> Any:
    """Return the file of an agent as a module."""
    return load_script(AGENTS / f"{name}.py", f"agents_{name}")
