# SPDX-License-Identifier: MIT
"""How a program comes to be: from ``source``, from a ``command_line`` that is only read, from
``builds`` that are watched or listed in a ``compilation_database``, and from ``collections``.

``objects`` and ``archive_members`` say what a linker would have taken; ``kept`` is what was made
before. Nothing here changes a program or runs it.
"""
