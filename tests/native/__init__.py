# SPDX-License-Identifier: MIT
"""Tests of the engine through its Python face."""
