# SPDX-License-Identifier: MIT
"""Deciding what stock compilers inline: an environment, and a server for their questions."""
