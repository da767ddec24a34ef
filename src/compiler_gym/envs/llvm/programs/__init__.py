# SPDX-License-Identifier: MIT
"""How programs are made: from ``source``, from a ``command_line`` that is only read, from
``builds`` that are watched or listed in a ``compilation_database``, and from ``collections``.

``objects`` and ``archive_members`` find what a linker would have taken; ``kept`` caches modules.
Nothing here changes a program or runs it.
"""
