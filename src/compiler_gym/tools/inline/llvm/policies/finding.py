# SPDX-License-Identifier: MIT
"""Policies of the inliner by name: LLVM's own, a function in Python, a heuristic in C."""

from pathlib import Path
from typing import Any

from compiler_gym.errors import PolicyLoadError
from compiler_gym.lazy import load_from_file
from compiler_gym.tools.inline.llvm.policies.deciding import FeaturePolicy, llvms_own
from compiler_gym.tools.inline.llvm.policies.heuristics import SUFFIXES, heuristic_policy

__all__ = ["find_feature_policy"]

_OWN, _USUAL = "default", "decide"


def find_feature_policy(name: str) -> FeaturePolicy:
    """Return the policy `name`.

    Args:
        name: ``default`` for LLVM's own choices; ``FILE.py`` or ``FILE.py:NAME`` for the function
            or class ``decide`` or NAME in it, or a `FeaturePolicy`; a source ``FILE.c`` or a
            shared object ``FILE.so`` with the function ``should_inline``.

    Raises:
        PolicyLoadError: There is no such policy.
    """
    if name == _OWN:
        return FeaturePolicy.of(llvms_own)
    path, _, attribute = name.partition(":")
    if path.endswith(SUFFIXES) and not attribute:
        return heuristic_policy(Path(path))
    if not path.endswith(".py"):
        raise PolicyLoadError(
            f"no policy {name!r}: expected {_OWN}, FILE.py, FILE.py:NAME, FILE.c or FILE.so"
        )
    found = _load_from(Path(path), attribute or _USUAL)
    return found if isinstance(found, FeaturePolicy) else FeaturePolicy.of(found)


def _load_from(path: Path, name: str) -> Any:
    try:
        found = load_from_file(path, name)
    except FileNotFoundError:
        raise PolicyLoadError(f"no file {path}: expected a Python file with a policy") from None
    except Exception as error:
        raise PolicyLoadError(f"{path} cannot be read: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise PolicyLoadError(f"{name} of {path} is {found!r:.80}: expected a function or a class")
    return found
