# SPDX-License-Identifier: MIT
"""The parts that commands share, those of tools and of other packages too.

``rows`` declares commands, ``programs`` reads program arguments, ``options`` makes options of
records, ``output`` prints, ``failures`` turns errors into one line and an exit status,
``interrupts`` handles Ctrl-C, ``completing`` answers the Tab key, and ``serving`` guards servers.
Nothing is imported here.
"""

__all__: list[str] = []
