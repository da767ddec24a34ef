# SPDX-License-Identifier: MIT
"""Find optimisations that a level of LLVM misses in real code, and document the evidence.

A hunt examines functions, then reduces, proves, counts and drafts each candidate, and records every
step in a journal. ``hunt`` runs the steps, ``decisions`` lists the decisions to try, ``engine`` is
the process that compiles, and ``examining`` contains the functions that run in it. ``reducing``,
``proving``, ``versions`` and ``growing`` are steps that need other tools; ``drafts`` and ``page``
write reports. Nothing is ever sent anywhere.
"""
