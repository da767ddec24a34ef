# SPDX-License-Identifier: MIT
"""Check the English of pages, messages, help texts, docstrings and comments.

proselint applies the rules of `rules.toml`; `allowed.toml` counts the findings that are left in
each folder. A count may fall but never rise.
"""
