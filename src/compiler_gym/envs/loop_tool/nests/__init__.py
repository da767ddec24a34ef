# SPDX-License-Identifier: MIT
"""The language of loop nests, and nothing of how it is run fast.

``program`` is what is computed, ``reading`` its text, ``descriptions`` the programs of one line;
``tree`` is the order in which it runs, ``changes`` what can be done to it. ``interpreter`` runs
a tree point by point, ``reference`` is numpy's answer.
"""
