# SPDX-License-Identifier: MIT
"""The compiler as it was found on this machine, and how it and what it makes are run.

``gcc`` is one compiler, here or, with ``docker``, in an image; ``spec`` lists the options it
accepts, which ``help`` reads from its own output. ``build`` compiles a program, ``products``
reads what came of that, ``running`` runs it.
"""
