# SPDX-License-Identifier: MIT
"""Find what a level of LLVM misses in real code, and hand it over as evidence.

A hunt is a journal of rows, one for each step of each function: examined, reduced, proven,
counted, compared among versions, drafted. ``hunt`` holds the order of the steps, ``decisions``
what is tried, ``engine`` the process that compiles, ``examining`` what runs in it, ``reducing``,
``proving``, ``versions`` and ``growing`` the steps that need other tools, ``drafts`` and ``page``
what a reader gets. Nothing is ever sent anywhere.
"""
