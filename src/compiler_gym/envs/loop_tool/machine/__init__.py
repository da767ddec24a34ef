# SPDX-License-Identifier: MIT
"""The machine that nests run on: ``measuring`` compiles, checks and times them there."""
