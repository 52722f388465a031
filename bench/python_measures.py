#!/usr/bin/env python3
"""priornet.measures beside what people write by hand in PyTorch, in turn, in one run.

The hand-written way is the textbook formulas on alpha = exp(logits), with torch.digamma and torch.lgamma, once as a user
writes them (eager) and, in PyTorch 2, compiled. It gives the same nine measures, and overflows where they do
(examples/python/by_hand.py).
"""

import argparse
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


def seconds_of(function, logits, at_least):
    """Seconds per call, the fastest of five rounds."""
    synchronise = torch.cuda.synchronize if logits.is_cuda else lambda: None
    function(logits)
    synchronise()
    calls = 1
    while True:
        rounds = []
        for _ in range(5):
            start = time.perf_counter()
            for _ in range(calls):
                function(logits)
            synchronise()
            rounds.append((time.perf_counter() - start) / calls)
        if min(rounds) * calls >= at_least:
            return min(rounds)
        calls *= 2


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, help="inputs; by default as many as make 1,000,000 logits, 100 times that on a GPU")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads")
    parser.add_argument("--seconds", type=float, default=0.2, help="that each measurement takes, at least")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    ways = {"by hand, eager": by_hand}
    if hasattr(torch, "compile"):
        ways["by hand, compiled"] = torch.compile(by_hand)
    where = torch.cuda.get_device_name() if arguments.device == "cuda" else f"{arguments.threads} CPU thread(s)"
    print(f"PyTorch {torch.__version__}, {where}, float32; microseconds per 1,000 rows")
    for classes in (10, 1000):
        rows = arguments.rows or (1_000_000 if arguments.device == "cpu" else 100_000_000) // classes
        logits = torch.randn(rows, classes, device=arguments.device)
        ours = seconds_of(priornet.measures, logits, arguments.seconds)
        for name, function in ways.items():
            theirs = seconds_of(function, logits, arguments.seconds)
            per_thousand = [1e9 * seconds / rows for seconds in (ours, theirs)]
            print(
                f"K = {classes:4d}: priornet.measures {per_thousand[0]:9.2f}, {name} {per_thousand[1]:9.2f}: "
                f"{theirs / ours:.1f} times"
            )


if __name__ == "__main__":
    main()
