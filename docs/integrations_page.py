# SPDX-License-Identifier: MIT
"""The reference page of the libraries that were tried, and with which releases.

`make integrations` tries them.
"""

from collections.abc import Iterator, Sequence
from os.path import relpath

from scripts.integrations import ROOT, Integration, Outcome, read_outcomes, read_table

__all__ = ["integrations_page"]

_HEAD = """\
# Tested releases

The newest release of each library, tried with this one: it was installed into a separate
environment, together with our dependencies, and the code on the linked page ran there.
`make integrations` does the same on your machine, and `make integrations ONLY="trl minari"` for two
libraries.

*Installed with* lists the releases of Gymnasium, PyTorch and numpy in that environment.
"""


def integrations_page(
    table: Sequence[Integration] | None = None, outcomes: dict[str, Outcome] | None = None
) -> str:
    """Return the page as Markdown."""
    rows = read_table() if table is None else table
    known = read_outcomes() if outcomes is None else outcomes
    return "\n".join(
        [_HEAD, *_list_rows([(row, known[row.package]) for row in rows if row.package in known])]
    )


def _list_rows(rows: Sequence[tuple[Integration, Outcome]]) -> Iterator[str]:
    yield "| library | release | tried on | result | installed with |"
    yield "|---|---|---|---|---|"
    for row, outcome in rows:
        link = relpath(ROOT / row.pages[0], ROOT / "docs" / "reference")
        result = f"fails: `{outcome.error.replace('|', '/')}`" if outcome.error else "works"
        beside = ", ".join(f"{name} {version}" for name, version in outcome.beside.items())
        cells = [
            f"[{row.title or row.package}]({link})",
            outcome.version,
            outcome.date,
            f"{result}. {row.note}" if row.note else result,
            beside,
        ]
        yield f"| {' | '.join(cells)} |"
    yield ""
