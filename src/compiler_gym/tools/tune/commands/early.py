# SPDX-License-Identifier: MIT
"""The options of ``compiler-gym cc``, and the calls that become the compiled driver at once.

A build calls its compiler thousands of times, so this module imports as little as possible.
"""

import os
import shutil
import sys
from typing import NamedTuple


class Option(NamedTuple):
    """An option of ours; it comes first, and an argument follows it."""

    takes: str
    """The kind of its argument: a file or a name."""
    example: str
    run: str = ""
    """The function of `cc` that handles it; empty if the compiled driver does."""


OPTIONS = {
    "--plan": Option("file", "tuned.toml"),
    "--recipe": Option("name", "small"),
    "--policy": Option("name", "size"),
    # The driver calls the library with these.
    "--check-plan": Option("file", "tuned.toml", "check_plan"),
    "--apply-plan": Option("file", "tuned.toml", "apply_to_link"),
    "--describe-recipe": Option("kind", "recipe", "print_description"),
    "--record": Option("compiler", "cc", "record"),
}
"""The options by their word."""


def serve(words: list[str]) -> int | None:
    """Become the driver for the call `words`; None means that Typer must handle it."""
    from compiler_gym.builds import RUST_OBJECT

    option = OPTIONS.get(words[1]) if len(words) > 2 else None
    is_by_rustc = any(word.endswith(RUST_OBJECT) for word in words)
    if is_by_rustc or (option is not None and not option.run):
        become_driver(words)
    return None


def become_driver(words: list[str]) -> None:
    """Replace this process by the driver for the verb in `words`; exit if it is missing."""
    driver = find_compiled_driver(words[0])
    os.execv(driver, [driver, *words[1:]])


def find_compiled_driver(verb: str) -> str:
    """Return the path of the driver for C (``cc``) or C++ (``cxx``); exit if it is missing."""
    name = f"compiler-gym-{verb}"
    folders = [os.path.dirname(sys.argv[0]), os.path.dirname(sys.executable)]
    path = os.pathsep.join([*filter(None, folders), os.environ.get("PATH", os.defpath)])
    driver = shutil.which(name, path=path)
    if driver is None:
        sys.exit(
            f"compiler-gym {verb}: {name} not found next to {sys.executable} or on PATH: "
            "install compiler_gym again, or run `make setup` in a checkout"
        )
    return driver
