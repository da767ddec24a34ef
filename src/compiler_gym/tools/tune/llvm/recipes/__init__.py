# SPDX-License-Identifier: MIT
"""Recipes: plans that suit most programs, one file each."""
