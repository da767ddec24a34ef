# SPDX-License-Identifier: MIT
"""Where programs come from: ``layers`` of known networks, ``drawn`` ones, and one's own files."""
