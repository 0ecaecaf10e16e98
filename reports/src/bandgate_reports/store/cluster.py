# SPDX-License-Identifier: Apache-2.0
"""Reading on a Dask cluster, for fleets whose results one machine does not want to read alone.

Its workers see the same folders under the same names and have this package installed. What they
give back is put together in the order in which it was asked for: the output is that of one machine.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from bandgate_reports.store.dataset import StoreError
from bandgate_reports.store.reading import Spread

# A scheduler that does not answer is a wrong address more often than a slow one.
_PATIENCE_S = 15
_ADDRESS = re.compile(r":[0-9]+/?$|^inproc://")


@contextmanager
def on_cluster(address: str) -> Iterator[Spread]:
    """`address` as Dask writes it, such as tcp://n001:8786. Raises StoreError."""
    try:
        from distributed import Client  # noqa: PLC0415 - an extra that few installations need
    except ImportError as error:
        raise StoreError(
            f"--scheduler {address}: Dask is not installed here; "
            "pip install 'bandgate-reports[cluster]'"
        ) from error
    try:
        if not _ADDRESS.search(address):  # a client of it would wait half a minute to end
            raise ValueError("it names no port")
        client = Client(address, timeout=_PATIENCE_S, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise StoreError(
            f"--scheduler {address}: no Dask scheduler answers there ({error}); start one with "
            "`dask scheduler`, its workers with `dask worker ADDRESS`, and name it as tcp://HOST:8786"
        ) from error
    with client:
        if not client.scheduler_info()["workers"]:
            raise StoreError(
                f"--scheduler {address}: has no workers; start some with `dask worker {address}`"
            )

        def spread(function: Callable[[Any], Any], batches: Iterable[Any]) -> Iterable[Any]:
            futures = client.map(function, list(batches), pure=False)
            return list(client.gather(futures))

        yield spread
