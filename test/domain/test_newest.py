"""A detector that is slower than its camera takes the newest image; what it never took is counted."""

from __future__ import annotations

import threading

from memory_node.domain.process import Newest


def test_newest_is_taken_and_the_others_are_counted() -> None:
    newest = Newest[object]()
    for number in range(5):
        newest.put(number)
    assert newest.take(0.0) == 4
    assert newest.skipped == 4
    assert newest.take(0.0) is None  # given once


def test_waiting_ends_with_an_image_or_with_the_end() -> None:
    newest = Newest[object]()
    taken: list[object] = []
    for act in (lambda: newest.put("image"), newest.end):
        thread = threading.Thread(target=lambda: taken.append(newest.take(30.0)))
        thread.start()
        act()
        thread.join(10.0)
        assert not thread.is_alive()
    assert taken == ["image", None]
    assert newest.ended
