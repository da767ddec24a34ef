# SPDX-License-Identifier: MIT
"""The page of options, made from the records that declare them."""

from collections.abc import Iterator
from dataclasses import fields

from compiler_gym.options import Limits, SearchOptions, list_options
from compiler_gym.tools.tune import Request

__all__ = ["options_page"]

_HEAD = """# Options

The options of a search and of a tuning, and the limits of a worker: what Python and the command
line call them. Where a run is taken up, an option has the value that the run was begun with, or
the run is refused. The page says which may change.

## A search

`run_search(make_env, programs, SearchOptions(...))`, or the fields as keywords of `run_search`.
"""
_TUNING = """
## A tuning

`Job(Request(build, project, output, ...), tuner)`, of `compiler_gym.tools.tune`.
"""
_LIMITS = """
## The limits of a worker

`compiler_gym.make(..., limits=Limits(...))`, of `compiler_gym.service`.
"""


def options_page() -> str:
    """Return the page."""
    return "\n".join(
        [_HEAD, *_rows(SearchOptions), _TUNING, *_rows(Request), _LIMITS, *_rows(Limits), ""]
    )


def _rows(record: type) -> Iterator[str]:
    yield "| field | command line | its default | what it is | may change in a run |"
    yield "| --- | --- | --- | --- | --- |"
    defaults = {one.name: one.default for one in fields(record)}
    for name, one in list_options(record).items():
        if one.help:
            flag = f"`{one.flag(name)}`"
            default = f"`{shown}`" if (shown := one.format_default(defaults[name])) else ""
            may_change = "yes" if one.may_change else ""
            yield f"| `{name}` | {flag} | {default} | {one.help} | {may_change} |"
