# SPDX-License-Identifier: MIT
"""Values whose format is only known by name."""

from typing import Any, cast

from compiler_gym.spaces._named import NamedSpace, refuse_masks

__all__ = ["Opaque"]


class Opaque(NamedSpace):
    """Any value of `format`: any JSON value for ``"json"``, otherwise text or bytes.

    >>> graph = Opaque(name="graph", format="json")
    >>> graph.contains({"nodes": [1, 2], "edges": []}), graph.contains({1, 2})
    (True, False)
    """

    def __init__(self, name: str, format: str, *, seed: Any = None) -> None:
        super().__init__(None, None, seed)
        self.name = name
        self.format = format
        """The name of the format."""

    @property
    def is_np_flattenable(self) -> bool:
        """False: the size is unknown."""
        return False

    def sample(self, mask: None = None, probability: None = None) -> Any:
        """Return a small random value."""
        refuse_masks(self, mask, probability)
        number = int(self.np_random.integers(100))
        return {"value": number} if self.format == "json" else str(number)

    def contains(self, x: Any) -> bool:
        """Return whether `x` can be a value of the format."""
        return _is_json(x) if self.format == "json" else isinstance(x, (str, bytes))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and (self.name, self.format) == (other.name, other.format)

    def __repr__(self) -> str:
        return f"Opaque({self.format})"


def _is_json(value: Any) -> bool:
    # An explicit stack, because graphs may be nested deeper than Python's recursion limit.
    pending: list[Any] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            table = cast("dict[Any, Any]", item)
            if not all(isinstance(key, str) for key in table):
                return False
            pending.extend(table.values())
        elif isinstance(item, list):
            items = cast("list[Any]", item)
            pending.extend(items)
        elif not (item is None or isinstance(item, (bool, int, float, str))):
            return False
    return True
