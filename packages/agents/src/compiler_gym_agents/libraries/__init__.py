# SPDX-License-Identifier: MIT
"""Adapters for libraries that train, evaluate and serve language models."""
