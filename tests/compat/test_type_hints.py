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

        class Step:
            def step(self, action: hints.ActionType) -> hints.StepType:
                raise NotImplementedError

        assert hints.OptionalArgumentValue is OptionalArgumentValue
    assert Step.step.__annotations__["return"] == tuple[Any, Any, bool, bool, dict[str, Any]]
