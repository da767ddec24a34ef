# SPDX-License-Identifier: MIT
"""Agents are single files beside the package: tests load them as modules."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

__all__ = ["load_agent"]

AGENTS = Path(__file__).parents[2] / "agents"


def load_agent(name: str) -> Any:
    """Return the file of an agent as a module."""
    spec = importlib.util.spec_from_file_location(f"agents_{name}", AGENTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
