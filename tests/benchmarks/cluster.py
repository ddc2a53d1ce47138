"""A table in partitions: ``python -m tests.benchmarks.cluster SECTION RECORDS PARTITIONS``.

One JSON line a section, of a generated table of 15 columns in Parquet, R = 3:

    stages     CPU seconds by stage and the most memory of any process, one part at a time in a process of its
               own; beside it the same work in one process on the whole table
    workers    elapsed and CPU seconds of the same work by 1, 2 and 4 workers of Dask on this machine, and
               whether they make the bytes that one process makes
    groupby    the same counts by Dask's own groupby over pandas, as somebody would write it
"""

import hashlib
import itertools
import multiprocessing
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from tasks.core.aggregates.marginals import count_marginals, count_table
from tasks.core.parts.store import PartStore
from tasks.core.parts.workers import Workers
from tasks.core.queries import QueryResources
from tasks.core.records.encoding import EncodingOptions
from tasks.core.records.partitions.encoding import PartitionPlace, encode_partitions
from tasks.core.tables.header import InputFile
from tests.benchmarks.core_job import Stopwatch, coded, schema_of
from tests.benchmarks.data import FOLDER, generated_parquet
from tests.benchmarks.running import cpu_seconds, peak_mb, print_line, process_tree

LENGTH = 3
ONE_THREAD = QueryResources(threads=1)


class Metered(Workers):
    """One part at a time, each in a process of its own, whose CPU seconds and memory are noted by stage."""

    def __init__(self) -> None:
        self.cpu: dict[str, float] = defaultdict(float)
        self.peak_mb: dict[str, int] = defaultdict(int)

    def each(self, name: str, work: Callable[[Any], Any], parts: Sequence[Any]) -> Iterator[Any]:
        """See `Workers`."""
        for part in parts:
            made, seconds, peak = _apart(work, part)
            self.cpu[name] += seconds
            self.peak_mb[name] = max(self.peak_mb[name], peak)
            yield made


def _apart(work: Callable[[Any], Any], part: object) -> tuple[Any, float, int]:
    here, there = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=_metered, args=(there, work, part))
    child.start()
    found = here.recv()
    child.join()
    return found


def _metered(there: Any, work: Callable[[Any], Any], part: object) -> None:
    started = time.process_time()
    made = work(part)
    there.send((made, time.process_time() - started, peak_mb()))


def in_partitions(path: Path, partitions: int, folder: Path, workers: Workers) -> dict[str, int]:
    """Read and count in partitions; bytes of what lies in the store."""
    source, store = InputFile(path), PartStore(str(folder / "parts"))
    place = PartitionPlace(partitions, store, "coded")
    options = EncodingOptions(total=True, key=b"benchmark", resources=ONE_THREAD)
    made = encode_partitions(source, schema_of(source), options, place, workers)
    (folder / "marginals").mkdir()
    count_table(replace(made, prefix="counts"), folder / "marginals", LENGTH, ONE_THREAD)
    return {"coded_mb": _megabytes(folder / "parts")}


def whole(path: Path, folder: Path) -> dict[str, float]:
    """The same in one process: CPU seconds by stage."""
    watch = Stopwatch()
    (folder / "coded").mkdir()
    coded(path).write(folder / "coded")
    watch.stop("read")
    (folder / "marginals").mkdir()
    count_marginals(folder / "coded", folder / "marginals", LENGTH, ONE_THREAD)
    watch.stop("count")
    return watch.stages


def _megabytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) >> 20


def stages(records: int, partitions: int) -> dict[str, object]:
    """CPU by stage in partitions and whole, peak memory, and whether the marginals are the same bytes."""
    path = generated_parquet(records)
    metered = Metered()
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        parted, one = Path(folder) / "parted", Path(folder) / "whole"
        parted.mkdir()
        one.mkdir()
        started = time.process_time()
        sizes = in_partitions(path, partitions, parted, metered)
        own = time.process_time() - started
        seconds, at_once, peak = _apart(lambda folder: whole(path, folder), one)
        files = sorted(each.name for each in (one / "marginals").iterdir())
        same = all(
            (one / "marginals" / name).read_bytes() == (parted / "marginals" / name).read_bytes()
            for name in files
        )
    total = own + sum(metered.cpu.values())
    return {
        "cpu_s": {name: round(value, 1) for name, value in metered.cpu.items()} | {"driver": round(own, 1)},
        "peak_mb": dict(metered.peak_mb),
        "whole_cpu_s": {name: round(value, 1) for name, value in seconds.items()},
        "whole_peak_mb": peak,
        "ratio": round(total / at_once, 2),
        "same_bytes": same,
        **sizes,
    }


def workers(records: int, partitions: int) -> dict[str, object]:
    """Elapsed and CPU seconds by numbers of workers, in a flow, as a run has them."""
    from flows.command import server
    from flows.command.run import quieten

    quieten(verbose=False)
    from prefect.settings import PREFECT_API_URL, temporary_settings

    path, found = generated_parquet(records), {}
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        seconds, at_once, _ = _apart(lambda into: whole(path, into), Path(folder))
        expected = _hash_of(Path(folder) / "marginals")
    with temporary_settings(updates={PREFECT_API_URL: server.ensure(lambda text: None)}):
        for number in (1, 2, 4):
            found[number] = _with_workers(path, partitions, number)
    hashes = {each.pop("hash") for each in found.values()}
    return {
        "by_workers": found,
        "one_process_cpu_s": {name: round(value, 1) for name, value in seconds.items()},
        "cpu_ratio_of_2": round(found[2]["cpu_s"] / at_once, 2),
        "elapsed_ratio_of_2_to_1": round(found[2]["elapsed_s"] / found[1]["elapsed_s"], 2),
        "same_bytes": hashes == {expected},
    }


def _hash_of(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def _with_workers(path: Path, partitions: int, number: int) -> dict[str, Any]:
    from prefect import flow

    from tasks.cluster import Cluster

    @flow(name="benchmark", persist_result=False)
    def job() -> dict[str, Any]:
        with tempfile.TemporaryDirectory(dir=FOLDER) as folder, Cluster("", number) as cluster:
            list(cluster.each("start", abs, range(number)))  # the cluster is up, and Python has loaded
            started = time.monotonic(), _cpu_of_all(), time.process_time()
            in_partitions(path, partitions, Path(folder), cluster)
            return {
                "elapsed_s": round(time.monotonic() - started[0], 1),
                "cpu_s": round(_cpu_of_all() - started[1], 1),
                "driver_cpu_s": round(time.process_time() - started[2], 1),
                "hash": _hash_of(Path(folder) / "marginals"),
            }

    return job()


def _cpu_of_all() -> float:
    """CPU seconds of this process and of all that it has started, those at work included."""
    seconds = 0.0
    for process in process_tree(os.getpid()):
        with suppress(OSError):
            seconds += cpu_seconds(process)
    return seconds


def groupby(records: int, partitions: int) -> dict[str, object]:
    """Dask's groupby over pandas for all sets of up to three columns, one thread; a share of the sets."""
    import dask
    import dask.dataframe as frames

    path, share = generated_parquet(records), 20
    sets = [
        chosen
        for length in range(1, LENGTH + 1)
        for chosen in itertools.combinations([f"c{place}" for place in range(15)], length)
    ]
    started = time.process_time()
    with dask.config.set(scheduler="single-threaded"):
        frame = frames.read_parquet(path, blocksize=None, split_row_groups=True).categorize()
        rest = sets[:: len(sets) // share]
        for chosen in rest:
            frame.groupby(list(chosen), observed=True).size().compute()
    seconds = time.process_time() - started
    return {
        "sets": len(sets),
        "counted": len(rest),
        "cpu_s_for_all": round(seconds * len(sets) / len(rest), 1),
    }


SECTIONS = {"stages": stages, "workers": workers, "groupby": groupby}


def main() -> None:
    """Run one section."""
    name, records, partitions = sys.argv[1:4] if len(sys.argv) > 3 else ("stages", "1000000", "4")
    found = SECTIONS[name](int(records), int(partitions))
    print_line(f"cluster_{name}", records=int(records), partitions=int(partitions), **found)


if __name__ == "__main__":
    main()
