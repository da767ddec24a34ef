# SPDX-License-Identifier: MIT
"""Programs by the thousand: ``published`` data sets from their ``archives``, ``generators`` that
never end, and the sources ``stored`` in a corpus.
"""
