# SPDX-License-Identifier: MIT
"""The web explorer: an API over environments as trees of states, and the page that shows it.

``records`` and ``routes`` say what is asked and answered, ``schema`` writes that down for the
front end. It names no compiler: what can be looked at of a program is told by the
environment's `compiler_gym.core.Panes`.
"""
