# SPDX-License-Identifier: MIT
"""Pages for people who work on the library: they are on the site, but not in its search.

A user who searches for "install" or "reward" wants a page that shows how, not the reasons for it.
"""

from docs.site.api_pages import for_users

__all__ = ["FOLDERS", "PAGES", "is_for_contributors"]

FOLDERS = ("decisions/",)
PAGES = frozenset({"architecture", "another-llvm", "changelog"})


def is_for_contributors(docname: str) -> bool:
    """Return whether a page is for people who work on the library.

    >>> is_for_contributors("decisions/0001-process-model"), is_for_contributors("start")
    (True, False)
    >>> is_for_contributors("api/compiler_gym.lazy"), is_for_contributors("api/compiler_gym.search")
    (True, False)
    """
    if docname.startswith("api/"):
        return docname.removeprefix("api/") not in {"index", *for_users()}
    return docname.startswith(FOLDERS) or docname in PAGES
