# SPDX-License-Identifier: MIT
"""The compiler on this machine: how it is found, and how it and its programs are run.

``gcc`` is one compiler, here or, with ``docker``, in an image; ``spec`` lists the options it
accepts, which ``help`` reads from its own output. ``build`` compiles a program, ``products``
reads the results, ``running`` runs the program.
"""
