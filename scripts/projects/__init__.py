# SPDX-License-Identifier: MIT
"""Real projects to judge whole programs by: fetched, built, tested and measured.

`table` reads ``projects.toml``, where a project is described; `fetching` gets sources from
Debian's and Python's archives into a folder of its own; `building` makes binaries with a
compiler and flags; `measuring` tells their sizes and what they cost to run. Nothing of theirs
is kept in this repository. ``python -m scripts.projects --help`` is the way in.
"""
