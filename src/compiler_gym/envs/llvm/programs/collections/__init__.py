# SPDX-License-Identifier: MIT
"""Large collections: ``published`` datasets from their ``archives``, unlimited ``generators``, and
the programs ``stored`` in a corpus.
"""
