"""One fit of dpmm in its own environment: codes and sizes in, records as codes out, and one JSON line.

``fitted_peer.py MODEL TABLE.csv SIZES.json EPSILON DELTA OUT.csv``; MODEL is AIM or MST, all else as the
library has it. CPU seconds of fit and generation, user and system of all threads; imports do not count.
"""

import json
import resource
import sys
import time
from pathlib import Path

import pandas as pd
from dpmm.pipelines import AIMPipeline, MSTPipeline


def main() -> None:
    model, table, sizes, epsilon, delta, out = sys.argv[1:]
    domain = {
        name: {"categories": list(range(size))} for name, size in json.loads(Path(sizes).read_text()).items()
    }
    frame = pd.read_csv(table)
    for name, about in domain.items():
        frame[name] = pd.Categorical(frame[name], categories=about["categories"])
    pipeline = {"AIM": AIMPipeline, "MST": MSTPipeline}[model](epsilon=float(epsilon), delta=float(delta))
    begun = time.process_time()
    pipeline.fit(frame, domain)
    made = pipeline.generate(n_records=len(frame))
    cpu_s = time.process_time() - begun
    made.to_csv(out, index=False)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps({"cpu_s": cpu_s, "peak_mb": peak, "records": len(made)}))


main()
