# SPDX-License-Identifier: MIT
"""The state of an episode: a program, its loop tree and a cursor, independent of the machine.

``program`` defines the language, ``reading`` parses it, and ``descriptions`` expands one-line
programs; ``tree`` holds the loop order and ``cursor`` a position in it. ``interpreter`` runs a
tree point by point, and ``reference`` computes the results with NumPy.
"""
