# SPDX-License-Identifier: MIT
"""Link random commands with our compiler and with clang, and compare the results.

`units` writes the sources, `cases` the commands, `linking` runs one of them, `comparing` judges it
and drops what a difference does not need. Nothing here knows how our compiler links: only
its command line is used.
"""
