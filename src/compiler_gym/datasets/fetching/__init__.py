# SPDX-License-Identifier: MIT
"""How programs get here and leave: ``download`` fetches a file (``reachable`` says from where,
``progress`` how far), ``archive`` unpacks one, ``install`` puts it in its place at once.
``readers`` and ``importers`` read the collections of others, ``corpus_writer`` keeps what they
read, ``export`` writes it as Parquet.
"""
