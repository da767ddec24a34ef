# SPDX-License-Identifier: MIT
"""Pages for those who work on the library: they are on the site, and the search leaves them out.

Whoever looks for "install" or "reward" wants a page that says how, not why it was built so.
"""

from typing import Any

from docs.site.api_pages import for_users

__all__ = ["FOLDERS", "PAGES", "is_for_contributors", "setup"]

FOLDERS = ("decisions/",)
PAGES = frozenset({"architecture", "another-llvm", "changelog"})


def is_for_contributors(docname: str) -> bool:
    """Return whether a page is for those who work on the library.

    >>> is_for_contributors("decisions/0001-process-model"), is_for_contributors("start")
    (True, False)
    >>> is_for_contributors("api/compiler_gym.lazy"), is_for_contributors("api/compiler_gym.search")
    (True, False)
    """
    if docname.startswith("api/"):
        return docname.removeprefix("api/") not in {"index", *for_users()}
    return docname.startswith(FOLDERS) or docname in PAGES


def _leave_out(app: Any, env: Any) -> None:
    for docname in env.all_docs:
        if is_for_contributors(docname):
            env.metadata[docname]["nosearch"] = ""


def setup(app: Any) -> dict[str, bool]:
    """Leave these pages out before the search is written."""
    app.connect("env-check-consistency", _leave_out)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
