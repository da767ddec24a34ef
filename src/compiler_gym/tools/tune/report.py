# SPDX-License-Identifier: MIT
"""Write the report of a tuning: one HTML file, in light or dark colours, and the same as JSON."""

import json
import shlex
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from compiler_gym.errors import ProjectError
from compiler_gym.files import write_whole
from compiler_gym.tools.tune.goal import Goal, columns
from compiler_gym.tools.tune.handing_over import Result
from compiler_gym.tools.tune.plan import PLAN_FILE
from compiler_gym.tools.tune.request import Request
from compiler_gym.tools.tune.summary import (
    TUNED,
    BinarySummary,
    TuningSummary,
    share,
    write_summary,
)
from compiler_gym.tools.tune.tuner import FunctionSize

if TYPE_CHECKING:
    import jinja2

_OURS = "compiler_gym.tools.tune"
_MOST_BARS = 30
"""The number of functions in the picture; the table below it lists every function."""


def render_page(template: str, package: str = _OURS, **values: object) -> str:
    """Render `template` with `values`, all text escaped, and return the page.

    Args:
        template: A file in the folder ``templates`` of `package`; it may extend ``base.html``,
            which uses no network, scripts or other files.
        package: The package of the template.
        **values: The variables of the template.
    """
    return _environment(package).get_template(template).render(**values)


@cache
def _environment(package: str) -> "jinja2.Environment":
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loaders = [PackageLoader(name) for name in dict.fromkeys((package, _OURS))]
    environment = Environment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["thousands"] = "{:,}".format  # pyright: ignore[reportUnknownMemberType]
    return environment


def page(summary: TuningSummary) -> str:
    """Return the HTML page for `summary`."""

    def gain(binary: BinarySummary) -> str:
        return binary.change if Goal(summary.goal).counts_bytes else "faster"

    return render_page(
        "report.html",
        title=f"{', '.join(binary.name for binary in summary.binaries)}, tuned for {summary.goal}",
        summary=summary,
        gain=gain,
        columns=columns,
        share=share,
        largest_changes=_largest_changes,
        max_size=_max_size,
        settings=_settings,
        TUNED=TUNED,
        PLAN_FILE=PLAN_FILE,
    )


def _largest_changes(functions: Sequence[FunctionSize]) -> list[FunctionSize]:
    """Return the functions whose size changed most, the largest function first."""
    changed = [f for f in functions if f.before != f.after]
    changed.sort(key=lambda f: (-abs(f.before - f.after), f.name))
    return sorted(changed[:_MOST_BARS], key=lambda f: (-_max_size(f), f.name))


def _max_size(function: FunctionSize) -> int:
    return max(function.before, function.after)


def _settings(summary: TuningSummary) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each setting; the text of an unused setting is empty."""
    limits = [
        f"{summary.seconds:g} seconds" if summary.seconds is not None else "",
        f"{summary.compilations:,} compilations" if summary.compilations is not None else "",
    ]
    yield "Build command", shlex.join(summary.build)
    yield "Test command", summary.check or ""
    yield "Run command", summary.run or ""
    yield "Search", f"{', '.join(filter(None, limits))}, seed {summary.seed}"
    yield "Also linked by this build", ", ".join(summary.others)


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
