# SPDX-License-Identifier: MIT
"""Who stops reading ends the command, quietly."""

import subprocess
import sys

from compiler_gym.cli.kit.pipes import READER_LEFT, leaving_with_the_reader


def test_complete_output_is_unchanged() -> None:
    with leaving_with_the_reader():
        done = "all"
    assert done == "all"


def test_a_reader_that_leaves_ends_the_command_without_a_word() -> None:
    code = (
        "from compiler_gym.cli.kit.pipes import leaving_with_the_reader\n"
        "with leaving_with_the_reader():\n"
        "    for number in range(100_000):\n"
        "        print('line', number)\n"
    )
    writer = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    assert writer.stderr is not None
    assert writer.stdout.readline() == "line 0\n"
    writer.stdout.close()
    said = writer.stderr.read()
    writer.stderr.close()
    assert (writer.wait(), said) == (READER_LEFT, "")
