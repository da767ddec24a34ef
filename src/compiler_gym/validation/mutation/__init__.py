# SPDX-License-Identifier: MIT
"""New inputs from existing ones: ``cases`` mutates cases, ``contents`` files, ``draw`` decides."""

from compiler_gym.validation.mutation.cases import CaseMutator, is_mutable
from compiler_gym.validation.mutation.contents import MOST_BYTES
from compiler_gym.validation.mutation.draw import Draw

__all__ = ["MOST_BYTES", "CaseMutator", "Draw", "is_mutable"]
