# SPDX-License-Identifier: MIT
# lunr has no types:
# pyright: reportMissingTypeStubs=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
"""The search of the site: pages ranked by any of the terms, with stems, synonyms and keywords.

lunr builds the index here and searches it in the browser, so results need no server and work from
a disk too. `search.toml` adds keywords to pages and lists synonyms.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lunr import get_default_builder, lunr
from lunr.index import Index
from lunr.stemmer import stemmer
from lunr.stop_word_filter import WORDS as STOP_WORDS
from lunr.token import Token

from docs.site import ROOT
from docs.site.api_pages import doors, for_users, names
from docs.site.contributors import is_for_contributors
from docs.site.pages import places
from docs.site.tutorial_pages import page
from docs.tutorials import NAMES

__all__ = ["SearchPage", "build_index", "find_pages", "read_pages", "setup", "stem", "write_query"]

DOCS = ROOT / "docs"
FIELDS = {"title": 12, "keywords": 14, "headings": 4, "text": 1}
"""The parts of a page that are searched, and their weights."""
_FENCE = re.compile(r"^(?P<fence>```+|:::+)(?:\{.*?^(?P=fence)$|.*?^(?P=fence)$)", re.M | re.S)
_MARKUP = re.compile(r"<!--.*?-->|!?\[(?P<text>[^\]]*)\]\([^)]*\)|[*`|#]", re.S)
_WORD = re.compile(r"[\w.]+")
_LEAST_PREFIX = 3
"""The fewest letters that are also searched as the beginning of longer words."""
_VOWELS = frozenset("aeiou")
_QUESTION = r"^(?:#+ +(.+)|\*\*(.+)\*\*)$"
"""A heading, or a paragraph in bold: a question or a message of troubleshooting."""
_BOOSTS = {"reference/": 0.7, "results/": 0.7, "upstream/": 0.5}
"""The weight of pages that list or measure, relative to those that show how to do something."""


@dataclass(frozen=True, slots=True)
class SearchPage:
    """One page as the index sees it."""

    name: str
    """Name of the page, such as ``guide/tune``."""
    title: str
    summary: str
    """First sentence, shown below the title."""
    headings: tuple[str, ...]
    text: str
    keywords: str = ""


def read_pages(settings: Mapping[str, Any] | None = None) -> list[SearchPage]:
    """Return the pages that the search covers: all of them except those for contributors."""
    if settings is None:
        settings = tomllib.loads((DOCS / "site" / "search.toml").read_text(encoding="utf-8"))
    files = {path: path for path in DOCS.rglob("*.md") if path.parent.name != "api"} | places()
    texts = {
        place.relative_to(DOCS).with_suffix("").as_posix(): file.read_text(encoding="utf-8")
        for file, place in files.items()
    } | {f"tutorials/{name}": page(name)[0] for name in NAMES}
    pages = [
        _read_page(text, name)
        for name, text in sorted(texts.items())
        if not is_for_contributors(name)
    ]
    pages += _read_interfaces()
    return [_add_keywords(found, settings) for found in pages]


def _read_page(text: str, name: str) -> SearchPage:
    prose = _MARKUP.sub(lambda match: match["text"] or "", _FENCE.sub("", text))
    headings = [a or b for a, b in re.findall(_QUESTION, _FENCE.sub("", text), re.M)]
    plain = [_MARKUP.sub(lambda match: match["text"] or "", heading) for heading in headings]
    title = plain[0] if plain else name.rpartition("/")[2]
    sentences = [line.strip() for line in prose.splitlines() if line.strip()]
    summary = next((line for line in sentences if line.endswith(".") and "{" not in line), "")
    return SearchPage(name, title, summary, tuple(plain[1:]), prose)


def _read_interfaces() -> Iterator[SearchPage]:
    """Yield a page for each module that users import from; its names are its headings."""
    for module, path in doors():
        if module in for_users():
            public = names(path)
            summary = f"Python reference: {', '.join(public[:6])}{', ...' if public[6:] else ''}"
            yield SearchPage(f"api/{module}", module, summary, tuple(public), "")


def _add_keywords(page: SearchPage, settings: Mapping[str, Any]) -> SearchPage:
    """Return `page` with its own keywords, and the synonyms of the terms in its title."""
    keywords = [str(settings["keywords"].get(page.name, ""))]
    shown = " ".join([page.title, *keywords]).lower()
    for group in settings["synonyms"]:
        if any(re.search(rf"\b{re.escape(term)}\b", shown) for term in group):
            keywords += group
    title, summary, headings, text = page.title, page.summary, page.headings, page.text
    return SearchPage(page.name, title, summary, headings, text, " ".join(keywords))


def build_index(pages: Sequence[SearchPage]) -> Index:
    """Return lunr's index of `pages`."""
    documents = [
        (
            {"name": page.name, "title": page.title, "keywords": page.keywords,
             "headings": " ".join(page.headings), "text": page.text},
            {"boost": _BOOSTS.get(page.name[: page.name.find("/") + 1], 1)},
        )
        for page in pages
    ]  # fmt: skip
    fields = [{"field_name": name, "boost": boost} for name, boost in FIELDS.items()]
    builder = get_default_builder()
    for pipeline in (builder.pipeline, builder.search_pipeline):
        pipeline.after(stemmer, stem)
        pipeline.remove(stemmer)
    builder.b(0.3)  # long pages and long lists of keywords lose little
    return lunr(ref="name", fields=fields, documents=documents, builder=builder)


def stem(token: Token, *_: Any) -> Token:
    """Return the stem of a word as lunr finds it in the browser.

    lunr's two implementations differ in words that end in y: "rays" is "rai" here, "ray" there.
    """
    word = str(token)
    text = str(stemmer(token))
    if text.endswith("i") and text[-2:-1] in _VOWELS and word.startswith(f"{text[:-1]}y"):
        return Token(f"{text[:-1]}y", token.metadata)
    if text.endswith("y") and len(word) > 2 and text[-2:-1] not in _VOWELS:
        return Token(f"{text[:-1]}i", token.metadata)
    return token


stem.label = "stemmer"  # pyright: ignore[reportFunctionMemberAccess]  # the name in the index


def write_query(words: str) -> str:
    """Return lunr's query for `words`: each of them, and with less weight what begins with it."""
    return " ".join(
        f"{term}^8 {term}*" if len(term) >= _LEAST_PREFIX else f"{term}^8"
        for term in _find_terms(words)
    )


def _find_terms(words: str) -> list[str]:
    """Return the terms that distinguish pages, so not "how" and "the"."""
    terms = [term.strip(".") for term in _WORD.findall(words.lower())]
    return [term for term in terms if term and term not in STOP_WORDS] or [*filter(None, terms)]


def find_pages(index: Index, words: str) -> list[str]:
    """Return the names of the pages that match any of `words`, the best first.

    lunr adds up the score of each term; a page that has only one of three terms, but often, is
    then before one that has them all. So its score counts by the share of the terms that match.
    `search.js` does the same.
    """
    terms = _find_terms(words)
    if not terms:
        return []
    stems = [str(stem(Token(term))) for term in terms]
    ranked: list[tuple[float, str]] = []
    for result in index.search(write_query(words)):
        found = [str(word) for word in result["match_data"].metadata]
        matched = [
            any(word == stem or word.startswith(term) for word in found)
            for term, stem in zip(terms, stems, strict=True)
        ]
        ranked.append((result["score"] * sum(matched), str(result["ref"])))
    return [name for _, name in sorted(ranked, key=lambda row: -row[0])]


def _write_index(app: Any, failure: Exception | None) -> None:
    if failure is not None or app.builder.format != "html":
        return
    pages = read_pages()
    shown = {page.name: [page.title, page.summary, list(page.headings)] for page in pages}
    data = {"index": build_index(pages).serialize(), "pages": shown}
    content = f"const SEARCH = {json.dumps(data, separators=(',', ':'))};\n"
    folder = Path(app.outdir)
    (folder / "search_data.js").write_text(content, encoding="utf-8")
    (folder / "searchindex.js").unlink(missing_ok=True)  # that of Sphinx


def setup(app: Any) -> dict[str, bool]:
    """Write the index when the pages are there."""
    app.connect("build-finished", _write_index)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
