# SPDX-License-Identifier: MIT
"""The command line's fixtures: old commands are today's."""

from cli.conftest import cli as cli
