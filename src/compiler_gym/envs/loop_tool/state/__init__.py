# SPDX-License-Identifier: MIT
"""The state of an episode: a program, its loop tree and a cursor, and nothing of how it runs fast.

``program`` is what is computed, ``reading`` its text, ``descriptions`` the programs of one line;
``tree`` is the order in which it runs, ``cursor`` the place in it. ``interpreter`` runs a tree
point by point, ``reference`` is numpy's answer.
"""
