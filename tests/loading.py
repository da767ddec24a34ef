# SPDX-License-Identifier: MIT
"""Loads what is no part of the package: a script beside it, or a plug-in as if installed."""

import importlib.util
import os
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

__all__ = ["installed", "load_script", "needs_packages"]

needs_packages = pytest.mark.skipif(
    importlib.util.find_spec("compiler_gym_gcc") is None, reason="needs a package next door"
)
"""The mark of a core test that uses a package; ``tests/without_packages`` hides them."""


def load_script(path: Path, name: str) -> Any:
    """Return the file at `path` as the module `name`."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def installed(package: Path, site: Path) -> dict[str, str]:
    """Return the variables with which `package` is installed, as an editable install leaves it."""
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    info = site / f"{project['name']}-{project['version']}.dist-info"
    info.mkdir(parents=True)
    facts = ("2.1", project["name"], project["version"])
    (info / "METADATA").write_text("Metadata-Version: {}\nName: {}\nVersion: {}\n".format(*facts))
    points = project["entry-points"]["compiler_gym.compilers"]
    lines = [f"{name} = {value}" for name, value in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[compiler_gym.compilers]", *lines, ""]))
    paths = [str(site), str(package / "src"), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
