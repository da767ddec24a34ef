# SPDX-License-Identifier: MIT
"""The parts that commands share, including those of tools and of other packages.

``rows`` declares commands, ``groups`` lists the commands of a group, ``programs`` reads program
arguments, ``options`` makes options from records, ``output`` prints, ``failures`` turns errors into
one line and an exit status, ``interrupts`` handles Ctrl-C, ``completing`` completes values with the
Tab key, and ``serving`` protects servers. Nothing is imported here.
"""

__all__: list[str] = []
