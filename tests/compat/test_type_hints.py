# SPDX-License-Identifier: MIT
"""The names of types that wrappers of 0.2.5 import."""

import importlib
import warnings
from typing import Any

from compiler_gym.core import OptionalArgumentValue


def test_the_names_of_types_are_at_their_old_path() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        hints: Any = importlib.import_module("compiler_gym.util.gym_type_hints")

        assert hints.OptionalArgumentValue is OptionalArgumentValue
        assert hints.ActionType is not None
        assert hints.StepType == tuple[Any, Any, bool, bool, dict[str, Any]]
