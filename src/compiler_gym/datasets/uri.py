# SPDX-License-Identifier: MIT
"""The address of a program: which dataset, which program in it, and how it is to be used.

An address is only text with structure. Nothing here opens a file or asks whether
the dataset exists.
"""

import functools
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from compiler_gym.errors import BenchmarkInitError, BenchmarkTypeError

__all__ = ["BenchmarkUri", "path_and_query", "quote_path"]

_DEFAULT_SCHEME = "benchmark"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+._-]*")
_WRITTEN_SCHEME = re.compile(rf"({_SCHEME.pattern})://")
_DATASET = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_PATH_SAFE = "/:@!$&'()*+,;=~[]"
_PLAIN_PATH = re.compile(r"[A-Za-z0-9_./:@!$&'()*+,;=~\[\]-]*")
_NO_PARAMS: Mapping[str, tuple[str, ...]] = MappingProxyType({})


@functools.total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class BenchmarkUri:
    """``scheme://dataset/path?params#fragment``, the address of one program.

    The scheme is ``benchmark`` where none is written. The path is the name of
    the program in its dataset and starts with ``/``. Query parameters say how
    the program is to be used; they do not select another program.

        >>> uri = BenchmarkUri.from_string("cbench-v1/qsort?goal=speed")
        >>> uri.scheme, uri.dataset, uri.path
        ('benchmark', 'cbench-v1', '/qsort')
        >>> uri.params["goal"]
        ('speed',)
        >>> str(uri)
        'benchmark://cbench-v1/qsort?goal=speed'

    An address equals another, or a string, that has the same canonical form.
    """

    scheme: str = _DEFAULT_SCHEME
    """What serves the dataset: ``benchmark``, ``generator``, ``file``, ..."""
    dataset: str = ""
    """The name of the dataset; empty for a scheme that is one dataset, as ``file`` is."""
    path: str = ""
    """The name of the program, decoded, with its leading ``/``; empty for a whole dataset."""
    params: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """The query: each key's values in the order written."""
    fragment: str = ""
    """What follows ``#``."""
    _text: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        params = {key: _values(self.params[key]) for key in sorted(self.params)}
        set_field = functools.partial(object.__setattr__, self)
        set_field("scheme", self.scheme.lower())
        set_field("params", MappingProxyType(params))
        if not _SCHEME.fullmatch(self.scheme):
            raise _report_malformed(self.scheme, "the scheme is not a word")
        if self.dataset and not _DATASET.fullmatch(self.dataset):
            raise _report_malformed(
                self.dataset, "a dataset's name has letters, digits, '_', '.', '-'"
            )
        if self.path and not self.path.startswith("/"):
            set_field("path", f"/{self.path}")
        set_field("_text", self._render())

    @classmethod
    def from_string(cls, uri: str) -> "BenchmarkUri":
        """Return the parsed `uri`; raise `BenchmarkInitError` when it is not an address."""
        if not isinstance(uri, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # users may
            raise BenchmarkTypeError(f"a benchmark URI is text, found {type(uri).__name__}")
        return _parse(uri)

    @staticmethod
    def canonicalize(uri: "str | BenchmarkUri") -> str:
        """Return the one spelling that equal addresses share.

        >>> BenchmarkUri.canonicalize("cbench-v1/qsort")
        'benchmark://cbench-v1/qsort'
        >>> BenchmarkUri.canonicalize("cbench-v1/qsort?b=2&a=1")
        'benchmark://cbench-v1/qsort?a=1&b=2'
        """
        return str(uri) if isinstance(uri, BenchmarkUri) else str(_parse(uri))

    @classmethod
    def of_program(cls, dataset: "BenchmarkUri", quoted_path: str) -> "BenchmarkUri":
        """Return the address of a program by its path as `quote_path` spells it.

        Much faster than `from_string`, for those who list many programs.
        """
        uri = object.__new__(cls)
        path = unquote(quoted_path, errors="surrogateescape") if "%" in quoted_path else quoted_path
        set_field = object.__setattr__
        set_field(uri, "scheme", dataset.scheme)
        set_field(uri, "dataset", dataset.dataset)
        set_field(uri, "path", f"/{path}")
        set_field(uri, "params", _NO_PARAMS)
        set_field(uri, "fragment", "")
        set_field(uri, "_text", f"{dataset.scheme}://{dataset.dataset}/{quoted_path}")
        return uri

    @property
    def dataset_name(self) -> str:
        """The dataset with its scheme, for example ``benchmark://cbench-v1``."""
        return f"{self.scheme}://{self.dataset}"

    @property
    def parameters(self) -> dict[str, str]:
        """The query as one value per key: the last one written."""
        return {key: values[-1] for key, values in self.params.items()}

    def without_params(self) -> "BenchmarkUri":
        """Return the address of the program alone: no query and no fragment."""
        if not self.params and not self.fragment:
            return self
        return BenchmarkUri(self.scheme, self.dataset, self.path)

    def startswith(self, *args: Any) -> bool:
        """Return what ``str(self).startswith`` does."""
        return self._text.startswith(*args)

    def endswith(self, *args: Any) -> bool:
        """Return what ``str(self).endswith`` does."""
        return self._text.endswith(*args)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"BenchmarkUri({self._text!r})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, BenchmarkUri):
            return self._text == other._text
        return self._text == other if isinstance(other, str) else NotImplemented

    def __lt__(self, other: "str | BenchmarkUri") -> bool:
        return self._text < str(other)

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_parse, (self._text,))

    def _render(self) -> str:
        path = quote_path(self.path)
        pairs = [(key, value) for key, values in self.params.items() for value in values]
        query = f"?{urlencode(pairs, errors='surrogateescape')}" if pairs else ""
        fragment = f"#{quote(self.fragment, safe=_PATH_SAFE)}" if self.fragment else ""
        return f"{self.scheme}://{self.dataset}{path}{query}{fragment}"


def quote_path(path: str) -> str:
    """Return the name of a program as an address spells it: in ASCII, percent-encoded.

    Names that are not UTF-8 arrive with lone surrogates, which become the bytes
    they stand for.

        >>> quote_path("été?.c")
        '%C3%A9t%C3%A9%3F.c'
    """
    if _PLAIN_PATH.fullmatch(path):
        return path
    return quote(path, safe=_PATH_SAFE, errors="surrogateescape")


def path_and_query(name: str) -> tuple[str, str]:
    """Return a path and the query behind it, with its question mark, or ``""``.

    A question mark that is part of the name of a file begins no query.

        >>> path_and_query("main.c?goal=speed")
        ('main.c', '?goal=speed')
    """
    path, mark, query = name.partition("?")
    return (name, "") if mark and os.path.isfile(name) else (path, mark + query)


@functools.lru_cache(maxsize=4096)
def _parse(text: str) -> BenchmarkUri:
    rest, _, fragment = text.partition("#")
    rest, _, query = rest.partition("?")
    written = _WRITTEN_SCHEME.match(rest)
    scheme = written[1].lower() if written else _DEFAULT_SCHEME
    dataset, slash, path = rest[written.end() if written else 0 :].partition("/")
    if not dataset and scheme == _DEFAULT_SCHEME:
        raise _report_malformed(text, "no dataset is named")
    params: dict[str, list[str]] = {}
    for key, value in parse_qsl(query, keep_blank_values=True, errors="surrogateescape"):
        params.setdefault(key, []).append(value)
    return BenchmarkUri(
        scheme,
        dataset,
        unquote(slash + path, errors="surrogateescape"),
        {key: tuple(values) for key, values in params.items()},
        unquote(fragment),
    )


def _values(values: str | Iterable[str]) -> tuple[str, ...]:
    return (values,) if isinstance(values, str) else tuple(values)


def _report_malformed(text: str, reason: str) -> BenchmarkInitError:
    return BenchmarkInitError(
        f"not a benchmark URI: {text!r}: {reason}: expected scheme://dataset/path, "
        "for example benchmark://cbench-v1/qsort"
    )
