# SPDX-License-Identifier: MIT
"""The tasks for language models that loop nests bring: ``families`` makes them by rule."""

__all__: list[str] = []
