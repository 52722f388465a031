#!/usr/bin/env python3
"""How long training takes beside programs that keep every core busy: by default, with one thread, and with OpenMP's own
waiting, which spins. Usage: bench/busy_machine.py PRIORNET [ROUNDS]. In each round every way takes its turn."""
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

tool = os.path.abspath(sys.argv[1])
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
ways = {
    "default": ([], {}),
    "--threads 1": (["--threads", "1"], {}),
    "OpenMP's own waiting": ([], {"GOMP_SPINCOUNT": "300000"}),
}


def table(path, rows=100_000, columns=10):
    draw = random.Random(1)
    with open(path, "w") as file:
        file.write(",".join(f"x{c}" for c in range(columns)) + ",kind\n")
        for row in range(rows):
            file.write(",".join(f"{draw.gauss(row % 3, 2):.4f}" for _ in range(columns)) + f",{'abc'[row % 3]}\n")


def seconds(folder, data, way):
    options, variables = ways[way]
    command = [tool, "train", "--data", data, "--epochs", "1", "--out", folder + "/run", "--force", "--quiet", *options]
    start = time.perf_counter()
    subprocess.run(command, env={**os.environ, **variables}, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


with tempfile.TemporaryDirectory() as folder:
    data = folder + "/table.csv"
    table(data)
    for busy in (0, os.cpu_count()):
        loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
        try:
            times = {way: [] for way in ways}
            for _ in range(rounds):
                for way in ways:
                    times[way].append(seconds(folder, data + ",label=kind", way))
        finally:
            for loop in loops:
                loop.kill()
        print(f"beside {busy} busy loops, medians of {rounds}:", flush=True)
        for way, found in times.items():
            print(f"  {way:<22} {statistics.median(found):6.1f} s   ({min(found):.1f} to {max(found):.1f})", flush=True)
