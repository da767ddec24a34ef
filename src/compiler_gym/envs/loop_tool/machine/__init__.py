# SPDX-License-Identifier: MIT
"""The machine that nests run on: ``measuring`` keeps, checks and times the nests of a session,
``timing`` says how sure a time is."""
