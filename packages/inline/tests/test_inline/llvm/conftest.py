# SPDX-License-Identifier: MIT
"""LLVM's own tools, to compare with."""

from tests.envs.llvm.conftest import tool as tool
