# SPDX-License-Identifier: MIT
"""Reports as single HTML files, rendered from Jinja2 templates."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jinja2

__all__ = ["render_page"]

_OURS = "compiler_gym.tools.tune"


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
