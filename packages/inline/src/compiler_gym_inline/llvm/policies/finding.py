# SPDX-License-Identifier: MIT
"""Find inlining policies by name: LLVM's own, a Python function, or a heuristic in C."""

from pathlib import Path
from typing import Any

from compiler_gym.errors import PolicyLoadError
from compiler_gym.lazy import load_from_file
from compiler_gym_inline.llvm.policies.deciding import FeaturePolicy, llvms_own
from compiler_gym_inline.llvm.policies.heuristics import SUFFIXES, heuristic_policy

__all__ = ["find_feature_policy"]

_OWN, _USUAL = "default", "decide"


def find_feature_policy(name: str) -> FeaturePolicy:
    """Return the policy `name`.

    Args:
        name: ``default`` for LLVM's own choices; ``FILE.py`` or ``FILE.py:NAME`` for the function
            or class ``decide`` or NAME in it, or a `FeaturePolicy`; a source ``FILE.c`` or a
            shared object ``FILE.so`` with the function ``should_inline``.

    Raises:
        PolicyLoadError: The policy does not exist or cannot be loaded.
    """
    if name == _OWN:
        return FeaturePolicy.of(llvms_own)
    path, _, attribute = name.partition(":")
    if path.endswith(SUFFIXES) and not attribute:
        return heuristic_policy(Path(path))
    if not path.endswith(".py"):
        raise PolicyLoadError(
            f"no policy {name!r}; use {_OWN}, FILE.py, FILE.py:NAME, FILE.c or FILE.so"
        )
    policy = _load_from(Path(path), attribute or _USUAL)
    return policy if isinstance(policy, FeaturePolicy) else FeaturePolicy.of(policy)


def _load_from(path: Path, name: str) -> Any:
    try:
        policy = load_from_file(path, name)
    except FileNotFoundError:
        raise PolicyLoadError(f"no file {path}; name a Python file with a policy") from None
    except Exception as error:
        raise PolicyLoadError(f"{path} cannot be read: {type(error).__name__}: {error}") from error
    if not callable(policy):
        raise PolicyLoadError(f"{name} in {path} is {policy!r:.80}, not a function or class")
    return policy
