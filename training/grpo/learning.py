"""The loop of reinforcement: groups of rollouts, one update each, resumable; its curve and card."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor, nn

from training.adapters.adapter import free_weights, resume, save_checkpoint
from training.adapters.processes import is_first, portion, sum_gradients, together
from training.adapters.writing import Written, log_probabilities
from training.grpo.rollouts import Rollout
from training.softmem.soft_memory import save_soft_memory
from training.softmem.soft_pair import SoftPair

# Clip range of the ratio of new to old probabilities. It is asymmetric: good tokens may gain more than bad ones may
# lose.
CLIP_LOW, CLIP_HIGH = 0.8, 1.28


def advantages(rewards: Sequence[float]) -> list[float]:
    """Return A = (r - mean) / sd of the rollouts of one task; 0 where all ended alike."""
    values = torch.tensor(list(rewards), dtype=torch.float64)
    spread = float(values.std(correction=0)) if len(values) else 0.0
    if spread == 0.0:
        return [0.0] * len(values)
    return [float(value) for value in (values - values.mean()) / spread]


def clipped_gain(log_probabilities: Tensor, old: Tensor, advantage: float) -> Tensor:
    """Return min(rho A, clip(rho, 0.8, 1.28) A) of each token, rho = p / p_old. The loss is minus its mean; no KL."""
    rho = (log_probabilities - old).exp()
    return torch.minimum(rho * advantage, rho.clamp(CLIP_LOW, CLIP_HIGH) * advantage)


@dataclass(frozen=True)
class GrpoSchedule:
    """As in the paper. tasks: of an update; rollouts: of a task; rate: constant; temperature: of sampling; seed: of
    everything drawn."""

    updates: int = 500
    tasks: int = 4
    rollouts: int = 4
    rate: float = 1e-6
    temperature: float = 1.2
    seed: int = 0


@dataclass
class Curve:
    """Where a run stands: updates done, and the mean reward of each."""

    updates: int = 0
    rewards: list[float] = field(default_factory=list)


# Plays a task and returns what was decided: the number of the task, the rollout's number, and the seed of its draws.
Play = Callable[[int, int, int], Rollout]
# Returns which tokens might be said at each place of a reply, (tokens, vocabulary), None for all.
AllowedOf = Callable[[Written], Tensor | None]


def unbound(_: Written) -> None:
    """Return that a reply was held to no form."""


def reinforce(
    pair: SoftPair,
    play: Play,
    task_count: int,
    schedule: GrpoSchedule,
    checkpoint: Path,
    allowed_of: AllowedOf = unbound,
    on_update: Callable[[], object] = lambda: None,
) -> Iterator[Curve]:
    """Update the pair's free weights by rollouts; yield after every update, and before where a run is gone on with.

    on_update: called before the first rollouts, and after each change of the weights.

    Raises:
        ValueError: the checkpoint is of another run.
    """
    free = free_weights(pair)
    optimizer = torch.optim.AdamW(free.values(), lr=schedule.rate, betas=(0.9, 0.95), eps=1e-5, weight_decay=0.01)
    run = {**asdict(schedule), "updates": 0}  # a run may be made longer
    state = resume(checkpoint, free, optimizer, run)
    curve = Curve(**state["curve"]) if state is not None else Curve()
    on_update()
    if state is not None:
        yield curve
    while curve.updates < schedule.updates:
        first = (schedule.seed * 1_000_003 + curve.updates) * (1 + schedule.tasks * schedule.rollouts)
        draws = torch.Generator("cpu").manual_seed(first)
        drawn = torch.randint(task_count, (schedule.tasks,), generator=draws, device="cpu").tolist()
        pair.eval()  # what is reinforced is what was sampled: no dropout between them
        asked = [(task, number) for task in drawn for number in range(schedule.rollouts)]
        own = portion(range(len(asked)))
        played = [play(*asked[place], first + 1 + place) for place in own]
        rewards = together([rollout.reward for rollout in played])
        gains = portion(_gains(rewards, schedule.rollouts))
        tokens = sum(together([_tokens(rollout) for rollout in played]))
        add_gradients(pair, zip(played, gains), tokens, schedule.temperature, allowed_of)
        sum_gradients(free.values())
        nn.utils.clip_grad_norm_(list(free.values()), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        pair.forget()
        on_update()
        curve.updates += 1
        curve.rewards.append(sum(rewards) / len(rewards))
        save_checkpoint(checkpoint, free, optimizer, run, curve=asdict(curve))
        if is_first():
            checkpoint.with_suffix(".json").write_text(json.dumps(curve.rewards) + "\n", encoding="utf-8")
        yield curve


def add_gradients(
    pair: SoftPair,
    rated: Iterable[tuple[Rollout, float]],
    tokens: int,
    temperature: float,
    allowed_of: AllowedOf = unbound,
) -> None:
    """Add the gradients of -mean min(rho A, clip(rho) A) over all tokens, those of text and the latent ones.

    A batch of rollouts serves one update, so what drew them are the weights as they are now: rho is 1 here, and its
    gradient is that of the log-probability.

    rated: rollouts, each with its advantage A. tokens: of the whole update, these rollouts or more.
    """
    for rollout, advantage in rated:
        if advantage == 0.0:  # a group that ended alike says nothing
            continue
        for decision in rollout.decisions:
            written = decision.written
            read = pair.read(written.prompt, written.tokens, decision.wording, decision.unsaid)
            text = log_probabilities(read.logits, written.tokens, temperature, allowed_of(written))
            gain = clipped_gain(text, text.detach(), advantage).sum()
            if decision.soft is not None:
                latent = read.latent.log_density(torch.tensor(decision.soft))
                gain = gain + clipped_gain(latent, latent.detach(), advantage).sum()
            (-gain / tokens).backward()


def _gains(rewards: list[float], rollouts: int) -> list[float]:
    groups = (rewards[start : start + rollouts] for start in range(0, len(rewards), rollouts))
    return [gain for group in groups for gain in advantages(group)]


def _tokens(rollout: Rollout) -> int:
    soft = (len(decision.soft) for decision in rollout.decisions if decision.soft is not None)
    return sum(len(decision.written.tokens) for decision in rollout.decisions) + sum(soft)


# Updates over which the reward is smoothed.
_WINDOW = 4


def write_report(
    folder: Path, command: str, schedule: GrpoSchedule, curve: Curve, before: Any, after: Any, pair: SoftPair
) -> None:
    """Write full.npz where there is a soft memory, curve.png and card.md."""
    if pair.soft.tokens:
        save_soft_memory(pair.soft, folder / "full.npz")
    _draw(smoothed(curve.rewards), curve.rewards, folder / "curve.png")
    rows = (f"| {number} | {reward:.3f} |" for number, reward in enumerate(curve.rewards, 1))
    told = (
        f"# Compiler {'and soft memory' if pair.soft.tokens else 'in words'}, reinforced",
        f"{curve.updates} updates of {schedule.tasks} games with {schedule.rollouts} rollouts each, rate"
        f" {schedule.rate:g}, temperature {schedule.temperature:g}, seed {schedule.seed}. The reward is 1 for a game"
        " that is won; the executor is frozen.",
        f"Games that nobody learnt from, played with the likeliest replies: before {before}, after {after}.",
        f"    {command}",
        "\n".join(("| update | games won |", "|---|---|", *rows)),
    )
    (folder / "card.md").write_text("\n\n".join(told) + "\n", "utf-8")


def smoothed(rewards: list[float]) -> list[float]:
    """Return the mean of the last rewards at each update."""
    windows = (rewards[max(0, end - _WINDOW) : end] for end in range(1, len(rewards) + 1))
    return [sum(window) / len(window) for window in windows]


def _draw(smooth: list[float], rewards: list[float], path: Path) -> None:
    figure = Figure(figsize=(6.0, 3.5), layout="constrained")
    axes = figure.add_subplot()
    updates = range(1, len(rewards) + 1)
    axes.plot(updates, rewards, "o", alpha=0.4, label="of an update")
    axes.plot(updates, smooth, label=f"mean of {_WINDOW} updates")
    axes.set(xlabel="update", ylabel="games won", ylim=(0.0, 1.05))
    axes.legend()
    figure.savefig(path, dpi=120)
