# SPDX-License-Identifier: MIT
"""Pass calls of ``compiler-gym cc`` to the compiled driver, without loading Typer."""

__all__ = ["serve"]

_FOR_DRIVER = ("--plan", "--recipe", "--policy")


def serve(words: list[str]) -> int | None:
    """Become the driver for the call `words`; None means that Typer must handle it."""
    from compiler_gym.builds import RUST_OBJECT

    is_by_rustc = any(word.endswith(RUST_OBJECT) for word in words)
    if is_by_rustc or (len(words) > 2 and words[1] in _FOR_DRIVER):
        from compiler_gym.tools.tune.commands.driver import become_driver

        become_driver(words)
    return None
