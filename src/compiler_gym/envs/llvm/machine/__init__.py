# SPDX-License-Identifier: MIT
"""From a module to a program that runs: ``clang`` and the ``engine`` as tools, ``build`` links,
``running`` measures, and ``program`` is all of it for one episode.

Nothing here knows where a program came from (``programs``) or judges it (``validation``).
"""
