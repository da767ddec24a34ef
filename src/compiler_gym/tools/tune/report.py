# SPDX-License-Identifier: MIT
"""Write the results of a tuning to its folder, as an HTML page and as JSON."""

import json
from collections.abc import Sequence

from compiler_gym.errors import ProjectError
from compiler_gym.files import write_whole
from compiler_gym.tools.tune.handing_over import Result
from compiler_gym.tools.tune.page import page
from compiler_gym.tools.tune.request import Request
from compiler_gym.tools.tune.summary import TuningSummary, write_summary

__all__ = ["write_report"]


def write_report(
    request: Request,
    results: Sequence[Result],
    *,
    compiler: str,
    others: Sequence[str],
    is_interrupted: bool,
    rebuild: str = "",
) -> TuningSummary:
    """Write ``report.html`` and ``report.json`` to the output folder; return their content."""
    summary = write_summary(
        request,
        results,
        compiler=compiler,
        others=others,
        is_interrupted=is_interrupted,
        rebuild=rebuild,
    )
    try:
        write_whole(request.output / "report.html", page(summary).encode())
        text = json.dumps(summary.to_json(), indent=2) + "\n"
        write_whole(request.output / "report.json", text.encode())
    except OSError as error:
        raise ProjectError(f"cannot write to {request.output}: {error.strerror}") from error
    return summary
