# SPDX-License-Identifier: MIT
"""The compiler as it was found on this machine, and how it and what it makes are run.

``gcc`` is one compiler, here or, with ``docker``, in an image; ``spec`` what it can be
told, which ``help`` reads from its own words as ``options``, and ``settings`` a choice
among them. ``build`` compiles a program, ``products`` reads what came of that, ``running``
runs it.
"""
