# SPDX-License-Identifier: MIT
"""Making programs: building the packages of a distribution, importing and exporting datasets."""

from compiler_gym.lazy import door

__all__: list[str] = []

__getattr__ = door(__name__, {})
