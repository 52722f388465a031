"""torch.compile and torch.library.opcheck over every operator that has a gradient: PyTorch 2 alone has them."""

import pytest
import torch

import priornet

if not hasattr(torch, "compile") or not hasattr(torch.library, "opcheck"):
    pytest.skip("PyTorch before 2.4 has no torch.library.opcheck", allow_module_level=True)

ops = torch.ops.priornet


@pytest.fixture(autouse=True)
def nothing_compiled_before():
    """PyTorch gives up on a function that it compiled for eight others of the same code: here, one per method and device."""
    torch._dynamo.reset()


def logits_of(*shape, device, dtype=torch.float64):
    values = torch.randn(shape, generator=torch.Generator().manual_seed(1), dtype=dtype)
    return values.to(device).requires_grad_()


def operators(device):
    """Every operator that kernels are registered for, with arguments."""
    rows = logits_of(6, 4, device=device)
    members = logits_of(3, 5, 4, device=device)
    labels = torch.tensor([0, 1, 2, 3], device=device)
    probabilities = torch.softmax(logits_of(4, 4, device=device), 1).detach()
    yield "measures", (rows, True, 0, 0)
    yield "measures", (rows, False, 0, 0)
    yield "measures", (members, True, 4, 0)
    yield "measures", (members, False, 0, 0)
    yield "kl_divergence", (rows, rows.detach().flip(0).requires_grad_())
    yield "log_density", (rows, torch.log_softmax(rows.detach(), 1).requires_grad_())
    yield "sample", (rows.detach(), 3, 0)
    for kind, values in (("labels", labels), ("flat", None), ("teacher", probabilities)):
        for reverse in (False, True):
            yield "divergence", (rows[:4].detach().requires_grad_(), values, kind, reverse, 50.0, 0.01)
    for method, info in priornet.losses.methods.items():
        batch = rows if info.needs_outside else rows[:4].detach().requires_grad_()
        targets = (None, probabilities) if info.needs_teacher else (labels, None)
        yield "method_loss", (batch, *targets, method, "{}")


COUNT = sum(1 for _ in operators("cpu"))


@pytest.mark.parametrize("number", range(COUNT))
def test_operators_are_registered_as_pytorch_wants_them(number, device):
    name, arguments = list(operators(device))[number]
    torch.library.opcheck(getattr(ops, name).default, arguments)


@pytest.mark.parametrize("kind, shape", [("dirichlet", (6, 4)), ("softmax", (6, 4)), ("dirichlet", (3, 5, 4)), ("softmax", (3, 5, 4))])
def test_measures_compile_into_one_graph(kind, shape, device):
    def entropy_and_more(logits):
        measured = priornet.measures(2 * logits, kind, samples=0)
        return measured.entropy + measured.max_prob

    compiled = torch.compile(entropy_and_more, fullgraph=True)
    plain_logits, compiled_logits = (logits_of(*shape, device=device) for _ in range(2))
    expected, found = entropy_and_more(plain_logits), compiled(compiled_logits)
    torch.testing.assert_close(found, expected)
    expected.sum().backward()
    found.sum().backward()
    torch.testing.assert_close(compiled_logits.grad, plain_logits.grad)


@pytest.mark.parametrize("method", list(priornet.losses.methods))
def test_a_training_step_compiles_into_one_graph(method, device):
    info = priornet.losses.methods[method]
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4)).double().to(device)
    loss = priornet.MethodLoss(method)
    inputs = logits_of(6 if info.needs_outside else 4, 3, device=device).detach()
    labels = torch.tensor([0, 1, 2, 3], device=device)
    targets = torch.softmax(logits_of(4, 4, device=device), 1).detach() if info.needs_teacher else labels

    def step(rows, held_to):
        return loss(network(rows), held_to)

    expected = step(inputs, targets)
    expected.backward()
    gradients = [parameter.grad.clone() for parameter in network.parameters()]
    network.zero_grad()
    found = torch.compile(step, fullgraph=True)(inputs, targets)
    torch.testing.assert_close(found, expected)
    found.backward()
    for parameter, gradient in zip(network.parameters(), gradients):
        torch.testing.assert_close(parameter.grad, gradient)


def test_functions_of_losses_compile_too(device):
    labels = torch.tensor([0, 1, 2, 3], device=device)

    def total(logits):
        batch = priornet.prior_network_loss(logits, labels, reverse=True, alpha0=50.0).total
        return batch + priornet.forward_kl(logits[:4], priornet.flat()).mean()

    logits = logits_of(6, 4, device=device)
    torch.testing.assert_close(torch.compile(total, fullgraph=True)(logits), total(logits))


def test_a_compiled_function_takes_other_numbers_of_rows(device):
    compiled = torch.compile(lambda z: priornet.measures(z).entropy, fullgraph=True, dynamic=True)
    for rows in (3, 7, 12):
        logits = logits_of(rows, 4, device=device)
        torch.testing.assert_close(compiled(logits), priornet.measures(logits).entropy)
