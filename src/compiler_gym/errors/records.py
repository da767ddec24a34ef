# SPDX-License-Identifier: MIT
"""Records as JSON and as dictionaries, with the methods of CompilerGym 0.2.5's records.

Each record declares which of its fields are records, or tuples of records.
"""

import copy
import dataclasses
import json
from collections.abc import Container, Mapping
from enum import Enum
from typing import Any, ClassVar, Self, cast

__all__ = ["Record"]

_Fields = dict[str, Any]


class Record:
    """Base class of dataclasses that are written and read as JSON.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Point(Record):
    ...     x: int
    ...     y: int = 0
    >>> Point(1).json(), Point.parse_raw('{"x": 2}').copy(update={"y": 3})
    ('{"x": 1, "y": 0}', Point(x=2, y=3))
    """

    __slots__ = ()
    parts: ClassVar[Mapping[str, "type[Record]"]] = {}
    """The class of each field that is a record, or a tuple of records."""
    derived: ClassVar[frozenset[str]] = frozenset()
    """Derived values that are written but not read."""

    def dict(
        self, *, include: Container[str] | None = None, exclude: Container[str] = ()
    ) -> _Fields:
        """Return every field by its name, or only those in `include` and not in `exclude`.

        Records inside become dictionaries, and tuples become lists.
        """
        return {
            name: _json_value(getattr(self, name))
            for name in _field_names(self)
            if name not in exclude and (include is None or name in include)
        }

    def json(
        self,
        *,
        include: Container[str] | None = None,
        exclude: Container[str] = (),
        **options: Any,
    ) -> str:
        """Return the same as a JSON object for `parse_raw`; `options` are those of `json.dumps`."""
        return json.dumps(self.dict(include=include, exclude=exclude), default=str, **options)

    def copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with the fields of `update`; with `deep` it shares no values."""
        values = {**{name: getattr(self, name) for name in _field_names(self)}, **(update or {})}
        return type(self)(**(copy.deepcopy(values) if deep else values))

    @classmethod
    def parse_obj(cls, fields: Mapping[str, Any]) -> Self:
        """Return the record for a dictionary; raise `ValueError` for invalid fields."""
        values = dict(fields) if isinstance(fields, Mapping) else None  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
        if values is None:
            raise ValueError(
                f"expected the fields of a {cls.__name__}, got {type(fields).__name__}"
            )
        stored = {name: value for name, value in values.items() if name not in cls.derived}
        try:
            return cls(**{name: cls._field(name, value) for name, value in stored.items()})
        except (TypeError, AttributeError) as error:
            raise ValueError(f"expected the fields of a {cls.__name__}: {error}") from error

    @classmethod
    def parse_raw(cls, b: str | bytes) -> Self:
        """Return the record for a JSON object; raise `ValueError` for other text."""
        try:
            return cls.parse_obj(json.loads(b))
        except (TypeError, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
            raise ValueError(f"expected the JSON of a {cls.__name__}: {error}") from error

    def _read_parts(self) -> None:
        """Convert values from a JSON object to records; for ``__post_init__``."""
        for name in self.parts:
            object.__setattr__(self, name, self._field(name, getattr(self, name)))

    @classmethod
    def _field(cls, name: str, value: Any) -> Any:
        """Return the value of the field `name` for the stored `value`."""
        part = cls.parts.get(name)
        if part is None or isinstance(value, part):
            return value
        if isinstance(value, (list, tuple)):
            items = cast("list[Any]", value)
            return tuple(item if isinstance(item, part) else part.parse_obj(item) for item in items)
        return part.parse_obj(value)


def _field_names(record: Record) -> list[str]:
    return [field.name for field in dataclasses.fields(cast(Any, record))]


def _json_value(value: Any) -> Any:
    """Return `value` for JSON: without records, tuples or members of an enum."""
    if isinstance(value, Record):
        return value.dict()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {key: _json_value(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [_json_value(item) for item in cast("list[Any]", value)]
    return value
