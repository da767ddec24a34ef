# SPDX-License-Identifier: MIT
"""A collection of transitions for torch's DataLoader. Needs the extras ``parquet`` and ``rl``."""

from collections.abc import Iterator, Sequence
from typing import Any

from compiler_gym.cli.kit.library import library
from compiler_gym.tools.learn.collection import Collection


def torch_transitions(
    collection: Collection,
    columns: Sequence[str] | None = None,
    *,
    batch_size: int = 1024,
    seed: int | None = None,
    buffer: int = 65_536,
) -> Any:
    """Return an `IterableDataset` of batches: dictionaries of tensors, or lists for text.

    Pass it to a ``DataLoader`` with ``batch_size=None``; the shards are split over its workers.
    Call ``set_epoch(n)`` before each epoch to change the order. The arguments are those of
    `Collection.transitions`.
    """
    torch = library("torch", "rl")
    loading = torch.utils.data

    class Transitions(loading.IterableDataset):
        epoch = 0

        def set_epoch(self, epoch: int) -> None:
            self.epoch = epoch

        def __iter__(self) -> Iterator[dict[str, Any]]:
            worker = loading.get_worker_info()
            part = (0, 1) if worker is None else (worker.id, worker.num_workers)
            batches = collection.transitions(
                columns,
                batch_size=batch_size,
                seed=seed,
                epoch=self.epoch,
                buffer=buffer,
                part=part,
            )
            for batch in batches:
                yield {
                    name: values.tolist() if values.dtype == object else torch.from_numpy(values)
                    for name, values in batch.items()
                }

        def __reduce__(self) -> Any:
            options = {"batch_size": batch_size, "seed": seed, "buffer": buffer}
            return _unpickle, (collection.path, columns, options, self.epoch)

    return Transitions()


def _unpickle(path: Any, columns: Sequence[str] | None, options: dict[str, Any], epoch: int) -> Any:
    """Return a pickled dataset, in a worker that was spawned rather than forked."""
    dataset = torch_transitions(Collection(path), columns, **options)
    dataset.set_epoch(epoch)
    return dataset
