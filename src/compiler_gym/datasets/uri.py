# SPDX-License-Identifier: MIT
"""Addresses of programs: a dataset, a program in it, and query parameters.

An address is only structured text. Nothing here opens a file or checks that the dataset exists.
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

    The scheme defaults to ``benchmark``. The path is the name of the program in its dataset and
    starts with ``/``. Query parameters affect how the program is used; they do not select another
    program.

        >>> uri = BenchmarkUri.from_string("cbench-v1/qsort?goal=speed")
        >>> uri.scheme, uri.dataset, uri.path
        ('benchmark', 'cbench-v1', '/qsort')
        >>> uri.params["goal"]
        ('speed',)
        >>> str(uri)
        'benchmark://cbench-v1/qsort?goal=speed'

    An address equals any address or string with the same canonical form.
    """

    scheme: str = _DEFAULT_SCHEME
    """The scheme of the dataset: ``benchmark``, ``generator``, ``file``, ..."""
    dataset: str = ""
    """The dataset's name; empty if the scheme is a single dataset, such as ``file``."""
    path: str = ""
    """The program's name, decoded, with a leading ``/``; empty for a dataset's address."""
    params: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """The query: the values of each key, in the order written."""
    fragment: str = ""
    """The part after ``#``."""
    _text: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        params = {key: _values(self.params[key]) for key in sorted(self.params)}
        set_field = functools.partial(object.__setattr__, self)
        set_field("scheme", self.scheme.lower())
        set_field("params", MappingProxyType(params))
        if not _SCHEME.fullmatch(self.scheme):
            raise _report_malformed(self.scheme, "the scheme is malformed")
        if self.dataset and not _DATASET.fullmatch(self.dataset):
            raise _report_malformed(
                self.dataset, "dataset names consist of letters, digits, '_', '.' and '-'"
            )
        if self.path and not self.path.startswith("/"):
            set_field("path", f"/{self.path}")
        set_field("_text", self._render())

    @classmethod
    def from_string(cls, uri: str) -> "BenchmarkUri":
        """Return the parsed `uri`; raise `BenchmarkInitError` if it is not an address."""
        if not isinstance(uri, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            raise BenchmarkTypeError(f"expected a benchmark URI as str, got {type(uri).__name__}")
        return _parse(uri)

    @staticmethod
    def canonicalize(uri: "str | BenchmarkUri") -> str:
        """Return the canonical form that equal addresses share.

        >>> BenchmarkUri.canonicalize("cbench-v1/qsort")
        'benchmark://cbench-v1/qsort'
        >>> BenchmarkUri.canonicalize("cbench-v1/qsort?b=2&a=1")
        'benchmark://cbench-v1/qsort?a=1&b=2'
        """
        return str(uri) if isinstance(uri, BenchmarkUri) else str(_parse(uri))

    @classmethod
    def of_program(cls, dataset: "BenchmarkUri", quoted_path: str) -> "BenchmarkUri":
        """Return the address of a program from its path, encoded with `quote_path`.

        Much faster than `from_string`, for listing many programs.
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
        """The scheme and dataset, for example ``benchmark://cbench-v1``."""
        return f"{self.scheme}://{self.dataset}"

    @property
    def parameters(self) -> dict[str, str]:
        """The query with one value per key: the last."""
        return {key: values[-1] for key, values in self.params.items()}

    def without_params(self) -> "BenchmarkUri":
        """Return the address without query and fragment."""
        if not self.params and not self.fragment:
            return self
        return BenchmarkUri(self.scheme, self.dataset, self.path)

    def startswith(self, *args: Any) -> bool:
        """Return ``str(self).startswith(*args)``."""
        return self._text.startswith(*args)

    def endswith(self, *args: Any) -> bool:
        """Return ``str(self).endswith(*args)``."""
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
    """Return a program's name as it appears in an address: ASCII, percent-encoded.

    Lone surrogates, which represent bytes that are not UTF-8, are encoded as those bytes.

        >>> quote_path("été?.c")
        '%C3%A9t%C3%A9%3F.c'
    """
    if _PLAIN_PATH.fullmatch(path):
        return path
    return quote(path, safe=_PATH_SAFE, errors="surrogateescape")


def path_and_query(name: str) -> tuple[str, str]:
    """Split `name` into a path and a query, which includes its question mark or is ``""``.

    If a file of the whole name exists, the question mark belongs to the path.

        >>> path_and_query("main.c?goal=speed")
        ('main.c', '?goal=speed')
    """
    path, mark, query = name.partition("?")
    return (name, "") if mark and os.path.isfile(name) else (path, mark + query)


@functools.lru_cache(maxsize=4096)
def _parse(text: str) -> BenchmarkUri:
    address, _, fragment = text.partition("#")
    address, _, query = address.partition("?")
    written = _WRITTEN_SCHEME.match(address)
    scheme = written[1].lower() if written else _DEFAULT_SCHEME
    dataset, slash, path = address[written.end() if written else 0 :].partition("/")
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
        f"{text!r} is not a benchmark URI: {reason}; write scheme://dataset/path, "
        "for example benchmark://cbench-v1/qsort"
    )
