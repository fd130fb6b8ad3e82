"""Which of the readings stands: one table, from the surest to the least sure.

| the words | what stands |
|---|---|
| the grammar explains every word, and the audit agrees | the grammar's commands |
| the grammar explains every word, one part is open, and all is named, or told by what it is for | its question |
| no trained readers, too many words for them, or something taken back | the grammar's, or a question |
| the reader of sequences finds nothing that it knows | the grammar's, then the reader of one goal from 0.7 on |
| the reader of one goal is the surer one, or both agree | that reading first, then the sequence |
| else | the sequence first |
| the reader of sequences finds the grammar's nearly as likely as its own | these before both, else behind them |

A reading that the audit objects to never stands, nor one under the threshold where somebody can be asked. Where nobody
can, the first row is for rows of three commands and more, which the trained readers follow badly, the second is left
out, and what was taken back is left to the trained readers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace

from memory_node.planner.language.calibration import Calibration
from memory_node.planner.language.reading import Reading, Said
from memory_node.planner.language.sequence_reader import effects_of
from memory_node.planner.language.trained_readers import TrainedReaders

_SURE_ALONE = 0.7  # from this probability on one goal is read where the reader of sequences finds nothing that it knows
_LITERAL = 12.0  # how much less likely (log) than its own reading the reader of sequences may find plain commands
_LITERAL_UNASKED = 3.0  # the same where nobody can be asked: what people leave unsaid is guessed then
_LITERAL_IN_PART = 2.0  # the same for commands that leave words unexplained
_READ_THROUGH = 0.7  # how often the grammar is right that reads every word of a description
_TURNS = re.compile(r"\b(?:no|not|\w+n't|never|instead|unless|until|if)\b", re.IGNORECASE)


def ranked(
    said: Said, commands: Reading, readers: TrainedReaders, calibration: Calibration, asks: bool
) -> Iterator[Reading]:
    """Yield the readings that could stand, the likeliest first, with calibrated confidences.

    asks: whether somebody can be asked.
    """
    row, whole = readers.rows.read(said), readers.whole.read(said)
    row_sure, whole_sure = (replace(one, confidence=calibration.of(one.source, one.confidence)) for one in (row, whole))
    if not row.goals or row.names_unknown:
        if commands.goals:
            yield replace(commands, confidence=0.0) if _is_guessed(commands) else commands
        if readers.whole.prediction(said).probability >= _SURE_ALONE:
            yield whole_sure
        return
    agreed = effects_of(whole.goals) == effects_of(row.goals)
    order = [whole_sure, row_sure] if agreed or whole.confidence > row.confidence else [row_sure, whole_sure]
    if commands.goals:
        likelihood = readers.rows.likelihood(said, commands.goals)
        likely = likelihood > math.log(max(row.confidence, 1e-30)) - _margin(said, asks)
        through = _READ_THROUGH if said.instruction.plain and (asks or not likely) else 0.0
        if likely:
            order.insert(0, replace(commands, confidence=max(row.confidence, order[0].confidence, through)))
        else:
            order.append(replace(commands, confidence=through))
    yield from order


def _margin(said: Said, asks: bool) -> float:
    """Return how much less likely (log) than their own reading the readers may find that of the grammar."""
    if said.plain and not _TURNS.search(said.text):
        return _LITERAL if asks else _LITERAL_UNASKED
    return _LITERAL_IN_PART


def _is_guessed(reading: Reading) -> bool:
    """Return whether a thing of the goals is only described."""
    return any(mention.guessed for goal in reading.goals for mention in goal.mentions)
