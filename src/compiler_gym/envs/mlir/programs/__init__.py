# SPDX-License-Identifier: MIT
"""Where payloads come from: ``builders`` writes a kernel as text, ``shapes`` names the kernels of
networks and of published evaluations, ``random_chain`` makes one of a seed, and ``description``
reads a line such as ``c[i,j] += a[i,k] * b[k,j]``. ``reading`` checks what a worker is given, and
is the only one that loads MLIR.
"""
