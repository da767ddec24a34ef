# SPDX-License-Identifier: MIT
"""A page escapes its title and needs no other file; a table aligns by its first row."""

from compiler_gym.tools.tune import html_page, html_table


def test_a_page_is_whole_and_escapes_its_title() -> None:
    page = html_page("<b>", "<p>body</p>")
    assert "<title>&lt;b&gt;</title>" in page
    assert "<main>\n<p>body</p>\n</main>" in page
    assert "prefers-color-scheme: dark" in page


def test_a_table_has_the_classes_of_its_cells_and_may_have_no_row() -> None:
    table = html_table(("Name", "Bytes"), [("tuned", ("a", "name"), ("1", "number"))])
    assert '<th class="">Name</th><th class="number">Bytes</th>' in table
    assert '<tr class="tuned"><td class="name">a</td><td class="number">1</td></tr>' in table
    assert "<tbody></tbody>" in html_table(("Name", "Bytes"), [])
