# SPDX-License-Identifier: MIT
"""Sources of payloads: ``builders`` writes a kernel as text, ``shapes`` lists the kernels of
networks and of published evaluations, ``random_chain`` generates one from a seed, and
``description`` parses a line such as ``c[i,j] += a[i,k] * b[k,j]``. ``reading`` checks the payload
of a worker, and is the only module here that loads MLIR.
"""
