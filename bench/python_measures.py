#!/usr/bin/env python3
"""priornet.measures beside what people write by hand in PyTorch, in turn, in one run.

The hand-written way is the textbook formulas on alpha = exp(logits), with torch.digamma and torch.lgamma, once as a user
writes them (eager) and, in PyTorch 2, compiled. It gives the same nine measures, and overflows where they do
(examples/python/by_hand.py).
"""

import argparse
import statistics
import time

import torch

import priornet


def by_hand(logits):
    """Every measure of DirichletMeasures, by its textbook formula."""
    alpha = logits.exp()
    classes = logits.size(1)
    precision = alpha.sum(1)
    mean = alpha / precision.unsqueeze(1)
    max_prob, prediction = mean.max(1)
    entropy = -(mean * mean.log()).sum(1)
    expected_entropy = (mean * (torch.digamma(precision + 1).unsqueeze(1) - torch.digamma(alpha + 1))).sum(1)
    differential_entropy = (
        torch.lgamma(alpha).sum(1)
        - torch.lgamma(precision)
        + (precision - classes) * torch.digamma(precision)
        - ((alpha - 1) * torch.digamma(alpha)).sum(1)
    )
    second_moment = (mean * (1 - mean)).sum(1)
    return (
        prediction,
        max_prob,
        entropy,
        expected_entropy,
        entropy - expected_entropy,
        differential_entropy,
        precision,
        (classes - 1) / precision,
        second_moment / (precision + 1),
        second_moment * precision / (precision + 1),
    )


def seconds_of(ways, logits, at_least, rounds):
    """Seconds per call of each way: the median over rounds; in each round all run in turn."""
    synchronise = torch.cuda.synchronize if logits.is_cuda else lambda: None

    def seconds(function, calls):
        synchronise()
        start = time.perf_counter()
        for _ in range(calls):
            function(logits)
        synchronise()
        return time.perf_counter() - start

    calls = {}
    for name, function in ways.items():
        seconds(function, 2)  # the first compiles, or wakes threads
        calls[name] = 1
        while seconds(function, calls[name]) < at_least:
            calls[name] *= 2
    taken = {name: [] for name in ways}
    for _ in range(rounds):
        for name, function in ways.items():
            taken[name].append(seconds(function, calls[name]) / calls[name])
    return {name: statistics.median(times) for name, times in taken.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, help="inputs; by default as many as make 1,000,000 logits, 100 times that on a GPU")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads")
    parser.add_argument("--seconds", type=float, default=0.2, help="that each measurement takes, at least")
    parser.add_argument("--rounds", type=int, default=7, help="measurements of each way; the median counts")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    ways = {"priornet.measures": priornet.measures, "by hand, eager": by_hand}
    if hasattr(torch, "compile"):
        ways["by hand, compiled"] = torch.compile(by_hand)
    where = torch.cuda.get_device_name() if arguments.device == "cuda" else f"{arguments.threads} CPU thread(s)"
    print(f"PyTorch {torch.__version__}, {where}; microseconds per 1,000 rows")
    for dtype in (torch.float32, torch.float64):
        for classes in (10, 1000):
            rows = arguments.rows or (1_000_000 if arguments.device == "cpu" else 100_000_000) // classes
            logits = torch.randn(rows, classes, device=arguments.device, dtype=dtype)
            taken = seconds_of(ways, logits, arguments.seconds, arguments.rounds)
            ours = taken.pop("priornet.measures")
            for name, theirs in taken.items():
                per_thousand = [1e9 * seconds / rows for seconds in (ours, theirs)]
                print(
                    f"{str(dtype)[6:]}, K = {classes:4d}: priornet.measures {per_thousand[0]:9.2f}, {name} "
                    f"{per_thousand[1]:9.2f}: {theirs / ours:.1f} times",
                    flush=True,
                )


if __name__ == "__main__":
    main()
