# SPDX-License-Identifier: MIT
"""The start of a program around another library: imports it, and reports errors in one line."""

import argparse
import importlib
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import gymnasium

from compiler_gym.errors import CompilerGymError, EnvironmentNotSupported
from compiler_gym.version import install_hint

__all__ = ["library", "report_errors"]


def library(name: str, extra: str) -> Any:
    """Return the module `name`; raise `EnvironmentNotSupported` if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise EnvironmentNotSupported(
            f"{name.partition('.')[0]} is missing ({error}): {install_hint(extra)}"
        ) from error


@contextmanager
def report_errors(parser: argparse.ArgumentParser) -> Generator[None]:
    """Print a request, compiler or disk error in one line, and exit with status 2."""
    try:
        yield
    except (CompilerGymError, gymnasium.error.Error) as error:
        parser.exit(2, f"{parser.prog}: error: {error}\n")
    except OSError as error:
        file = "" if error.filename is None else f"{error.filename}: "
        parser.exit(2, f"{parser.prog}: error: {file}{error.strerror or error}\n")
