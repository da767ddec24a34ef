# SPDX-License-Identifier: MIT
"""The compiler on this machine: finding it, and running it and its programs.

``gcc`` is one compiler, installed or, with ``docker``, in an image. ``spec`` lists its options,
which ``help`` reads from its output. ``build`` compiles a program, ``products`` reads the results,
and ``running`` runs the program.
"""
