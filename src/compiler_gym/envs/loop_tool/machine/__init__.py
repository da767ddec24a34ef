# SPDX-License-Identifier: MIT
"""The machine that nests run on: ``processor`` compiles and calls them, ``timing`` says how sure
times are, ``measuring`` keeps, checks and compares the nests of a session."""
