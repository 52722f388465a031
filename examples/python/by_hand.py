#!/usr/bin/env python3
"""What people write by hand for the uncertainty of Dirichlets, and where it overflows or loses its digits.

The first table goes from a Dirichlet without evidence to one that is very sure, in float32, as networks compute. It has
priornet beside the formulas of textbooks on alpha = exp(logits) and torch.distributions. The reference is mpmath with
50 digits, where it is there (Debian: python3-mpmath), else priornet in float64. A cell is the relative error; "inf" and
"nan" are what came out.
"""

import argparse
import math

import torch

import priornet

try:
    import mpmath
except ImportError:
    mpmath = None


def exact(logits):
    """Mutual information, differential entropy and KL to the flat Dirichlet, with 50 digits."""
    if mpmath is None:
        measured = priornet.measures(logits.double().unsqueeze(0))
        flat = torch.zeros_like(logits.double()).unsqueeze(0)
        kl = priornet.kl_divergence(logits.double().unsqueeze(0), flat)
        return [measured.mutual_information.item(), measured.differential_entropy.item(), kl.item()]
    mpmath.mp.dps = 100  # up to 41 digits cancel
    alpha = [mpmath.exp(mpmath.mpf(z)) for z in logits.tolist()]
    total, classes = mpmath.fsum(alpha), len(alpha)
    psi, ln_gamma = mpmath.digamma, mpmath.loggamma
    information = mpmath.fsum(a / total * (mpmath.log(a / total) - psi(a + 1) + psi(total + 1)) for a in alpha)
    ln_beta = mpmath.fsum(ln_gamma(a) for a in alpha) - ln_gamma(total)
    entropy = ln_beta + (total - classes) * psi(total) - mpmath.fsum((a - 1) * psi(a) for a in alpha)
    return [-information if information < 0 else information, entropy, -ln_gamma(classes) - entropy]


def by_hand(logits):
    alpha = logits.exp()
    total = alpha.sum()
    mean = alpha / total
    entropy_of_mean = -(mean * mean.log()).sum()
    expected = (mean * (torch.digamma(total + 1) - torch.digamma(alpha + 1))).sum()
    try:
        dirichlet = torch.distributions.Dirichlet(alpha)
        entropy = dirichlet.entropy()
        kl = torch.distributions.kl_divergence(dirichlet, torch.distributions.Dirichlet(torch.ones_like(alpha)))
    except ValueError:  # it refuses an alpha that has rounded to 0 or overflowed
        entropy = kl = torch.tensor(math.nan)
    return [(entropy_of_mean - expected).item(), entropy.item(), kl.item()]


def ours(logits):
    measured = priornet.measures(logits.unsqueeze(0))
    kl = priornet.kl_divergence(logits.unsqueeze(0), torch.zeros(1, len(logits)))
    return [measured.mutual_information.item(), measured.differential_entropy.item(), kl.item()]


def error(found, wanted):
    if not math.isfinite(found):
        return "nan" if math.isnan(found) else "inf"
    if wanted == 0:
        return f"{abs(found):.0e}"
    return f"{float(abs((found - wanted) / wanted)):.0e}"


def rows():
    """What the logits are, and the logits."""
    yield "no evidence: alpha = 1e-6 each", torch.full((10,), math.log(1e-6))
    yield "flat: alpha = 1 each", torch.zeros(10)
    yield "one class of 10, alpha0 = 100", torch.tensor([4.5] + [0.0] * 9)
    yield "one class of 10, alpha0 = 1e4", torch.tensor([9.2] + [1.0] * 9)
    yield "one class of 10, alpha0 = 1e8", torch.tensor([18.4] + [3.0] * 9)
    yield "one class of 10, alpha0 = 1e20", torch.tensor([46.0] + [10.0] * 9)
    yield "1000 classes, alpha0 = 1e6", torch.tensor([13.8] + [0.0] * 999)
    yield "1000 classes, alpha overflows", torch.tensor([90.0] + [80.0] * 999)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="has no effect: the example is always quick")
    parser.parse_args()
    print(f"relative errors in float32, reference: {'mpmath' if mpmath else 'priornet in float64'}")
    print(f"{'':34}{'mutual information':^22}{'differential entropy':^22}{'KL to flat':^22}")
    print(f"{'':34}" + f"{'by hand':>10}{'priornet':>10}  " * 3)
    for what, logits in rows():
        wanted, hand, here = exact(logits), by_hand(logits), ours(logits)
        cells = "".join(f"{error(h, w):>10}{error(o, w):>10}  " for w, h, o in zip(wanted, hand, here))
        print(f"{what:34}{cells}")


if __name__ == "__main__":
    main()
