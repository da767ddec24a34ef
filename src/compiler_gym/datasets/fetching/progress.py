# SPDX-License-Identifier: MIT
"""Progress bars for downloads and imports, shown on terminals only."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

Report = Callable[[int, int | None], None]
"""A function called with the bytes done so far and the total, or None if unknown."""


@contextmanager
def transfer_bar(description: str) -> Generator[Report]:
    """Yield a function that updates a progress bar; it does nothing without a terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.DownloadColumn(),
        progress.TransferSpeedColumn(),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
