# SPDX-License-Identifier: MIT
"""The command line's fixtures: old commands are today's."""

from cli.conftest import cli as cli
from cli.conftest import other_warm as other_warm
