"""Names in dialogues to learn from: what the teacher takes first is the plain one."""

from memory_node.llm.chat import Message
from training.executor.plain_names import with_plain_names
from training.executor.run_files import TaughtDialogue


def renamed(*turns: tuple[str, str]) -> list[str]:
    messages = tuple(Message(role, text) for role, text in turns)  # type: ignore[arg-type]
    learnt = tuple(index for index, message in enumerate(messages) if message.role == "assistant")
    return [message.text for message in with_plain_names(TaughtDialogue("task", messages, learnt)).messages]


def test_what_is_taken_first_has_the_plain_name_and_stands_first() -> None:
    told, first, result, second = renamed(
        ("user", "Mug: on Desk\nMug 2\nMug 3: in Sink\nHand: empty\nGoals: place Mug to Desk"),
        ("assistant", "PickupObject(Mug 3)"),
        ("user", "Mug 3: in the hand\nHand: Mug 3\nGoals: place Mug to Desk"),
        ("assistant", "PutObject(Mug 3, Desk)"),
    )
    assert told == "Mug: in Sink\nMug 2: on Desk\nMug 3\nHand: empty\nGoals: place Mug to Desk"
    assert (first, second) == ("PickupObject(Mug)", "PutObject(Mug, Desk)")
    assert result == "Mug: in the hand\nHand: Mug\nGoals: place Mug to Desk"


def test_what_speaks_of_classes_stays() -> None:
    lines = "Not seen yet: Mug\nInstruction: Mug to the Mug 2\nGoals: clean Mug to Shelf"
    told, call = renamed(("user", f"Mug\nMug 2\n{lines}"), ("assistant", "GoToObject(Mug 2)"))
    assert told == f"Mug\nMug 2\n{lines}"
    assert call == "GoToObject(Mug)"


def test_names_in_places_follow() -> None:
    told, _ = renamed(("user", "Egg: on Shelf 2\nShelf\nShelf 2"), ("assistant", "GoToObject(Shelf 2)"))
    assert told == "Egg: on Shelf\nShelf\nShelf 2"
