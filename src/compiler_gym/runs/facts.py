# SPDX-License-Identifier: MIT
"""The facts on which a result depends besides its configuration: versions, host, revision."""

import os
import platform
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from compiler_gym.version import __version__

__all__ = ["facts"]

_PACKAGES = ("gymnasium", "numpy", "torch", "stable-baselines3")


def facts() -> dict[str, Any]:
    """Return plain values that describe this machine, its software and the current time."""
    return {
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "command": sys.argv,
        "versions": {"compiler_gym": __version__, "python": platform.python_version()}
        | dict(filter(None, map(_find_version, _PACKAGES))),
        "host": {
            "name": platform.node(),
            "system": platform.platform(),
            "processor": _processor(),
            "processors": len(os.sched_getaffinity(0)),
        },
        "git": _revision(),
    }


def _find_version(package: str) -> tuple[str, str] | None:
    try:
        return package, version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor())


def _revision() -> dict[str, Any] | None:
    """Return the revision of the working directory and whether it has changes; None without git."""
    revision = _git("rev-parse", "HEAD")
    if revision is None:
        return None
    return {"revision": revision, "changed": bool(_git("status", "--porcelain", "-uno"))}


def _git(*arguments: str) -> str | None:
    try:
        result = subprocess.run(
            ["git", *arguments], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip() if result.returncode == 0 else None
