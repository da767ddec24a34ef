# SPDX-License-Identifier: MIT
"""Loop-nest tasks for language models, which ``families`` generates."""

__all__: list[str] = []
