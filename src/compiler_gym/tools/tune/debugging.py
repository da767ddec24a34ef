# SPDX-License-Identifier: MIT
"""Hand over a tuned binary with its debug information in a file beside it.

The plan is carried out once more with ``-g``. What was tested is what is handed over: where the
compiler makes other code with debug information, there is none.
"""

from pathlib import Path

from compiler_gym.builds import read_code
from compiler_gym.errors import ProjectError
from compiler_gym.files import scratch_directory
from compiler_gym.tools.tune.builds import (
    Binary,
    debug_name,
    run_command,
    shell_text,
    split_commands,
    with_debug,
)
from compiler_gym.tools.tune.measuring import put
from compiler_gym.tools.tune.plan import BinaryPlan
from compiler_gym.tools.tune.tuner import Tuner

__all__ = ["debug_script", "write_debug"]

_OUT = "/@OUT@"
"""Stands for the folder of what the script makes until all words are quoted."""


def write_debug(tuner: Tuner, binary: Binary, plan: BinaryPlan, target: Path, jobs: int) -> str:
    """Put debug information beside `target`, which `plan` made; return why not, or nothing."""
    with scratch_directory("tuning") as folder:
        scratch = Path(folder)
        made = scratch / target.name
        try:
            built = tuner.build(with_debug(binary), plan, scratch / "built", jobs=jobs)
            if read_code(built) != read_code(target):
                return (
                    f"{binary.name} has no file of debug information: its code would be another "
                    "with -g than the code that was tested"
                )
            for words in split_commands(built, made):
                run_command(words, scratch)
        except ProjectError as error:
            return f"{binary.name} has no file of debug information: {error}"
        put(Path(debug_name(str(made))), Path(debug_name(str(target))))
        put(made, target)
    return ""


def debug_script(tuner: Tuner, binary: Binary, plan: BinaryPlan) -> str:
    """Return the lines that make the bytes of both files: see `Tuner.script`."""
    path = Path(_OUT) / binary.name
    lines = [shell_text(words, {_OUT: "OUT"}) for words in split_commands(path, path)]
    return "\n".join([tuner.script(with_debug(binary), plan), *lines, ""])
