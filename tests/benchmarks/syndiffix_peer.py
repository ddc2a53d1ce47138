"""One measurement of the peer (syndiffix), in its own environment: table, output, salt and strategy in
(see `syndiffix_ours`).

CPU seconds from building to the sampled table; importing and reading are done before. One JSON line out.
"""

import json
import resource
import sys
import time

import pandas as pd
from syndiffix import Synthesizer
from syndiffix.clustering.strategy import DefaultClustering, MlClustering, SingleClustering
from syndiffix.common import AnonymizationParams


def main() -> None:
    path, output, salt, strategy = sys.argv[1:]
    frame = pd.read_parquet(path)
    base = peak_mb()
    begun = time.process_time()
    which, _, column = strategy.partition("=")
    chosen = {"single": SingleClustering(), "target": MlClustering(column)}
    synthetic = Synthesizer(
        frame.drop(columns=column) if which in ("ids", "without") else frame,
        pids=frame[[column]] if which == "ids" else None,
        anonymization_params=AnonymizationParams(salt=bytes.fromhex(salt)),
        clustering=chosen.get(which, DefaultClustering()),
    ).sample()
    seconds = time.process_time() - begun
    peak = peak_mb()
    synthetic.to_parquet(output, index=False)
    print(json.dumps({"cpu_s": seconds, "peak_mb": peak, "base_mb": base, "rows": len(synthetic)}))


def peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


main()
