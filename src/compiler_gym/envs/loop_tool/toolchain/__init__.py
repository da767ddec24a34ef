# SPDX-License-Identifier: MIT
"""The machine that loop nests run on: ``code`` makes machine code of a tree, ``measuring`` keeps,
checks and times the nests of a session, ``timing`` says how sure a time is.
"""
