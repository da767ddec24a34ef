# SPDX-License-Identifier: MIT
"""Write the debug information of a tuned binary to a separate file next to it.

The plan is built once more with ``-g``. The code must be the same as that of the tested binary; if
debug information changes it, no debug file is written.
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
"""A placeholder for the output folder of the script until all arguments are quoted."""


def write_debug(tuner: Tuner, binary: Binary, plan: BinaryPlan, target: Path, jobs: int) -> str:
    """Write the debug file of `target`, built with `plan`; return the reason if that fails."""
    with scratch_directory("tuning") as folder:
        scratch = Path(folder)
        stripped = scratch / target.name
        try:
            built = tuner.build(with_debug(binary), plan, scratch / "built", jobs=jobs)
            if read_code(built) != read_code(target):
                return (
                    f"{binary.name} has no debug file: -g would change its code, which was tested "
                    "without -g"
                )
            for words in split_commands(built, stripped):
                run_command(words, scratch)
        except ProjectError as error:
            return f"{binary.name} has no debug file: {error}"
        put(Path(debug_name(str(stripped))), Path(debug_name(str(target))))
        put(stripped, target)
    return ""


def debug_script(tuner: Tuner, binary: Binary, plan: BinaryPlan) -> str:
    """Return the script lines that produce both files; see `Tuner.script`."""
    path = Path(_OUT) / binary.name
    lines = [shell_text(words, {_OUT: "OUT"}) for words in split_commands(path, path)]
    return "\n".join([tuner.script(with_debug(binary), plan), *lines, ""])
