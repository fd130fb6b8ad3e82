"""Journals of releases whose path named no database: each reaches the database that its facts were told to, only."""

import json

from memory_node.domain.scene import SceneEvent, SceneEventKind
from memory_node.store import StoreConfig, open_store
from memory_node.store.journal import Journal, encode_batch
from memory_node.store.location import state_folder
from memory_node.store.translate import Translator

SMALL = StoreConfig(journal_mib=1.0, retry_interval_s=0.1)


def seen(thing):
    return SceneEvent(SceneEventKind.UPDATED, 1, thing)


def leave_journal(monkeypatch, session_id, things, site="home", robot="r1"):
    """Write what an earlier release would have left; return its path."""

    def without_identity(batch, identity):
        tables = json.loads(encode_batch(batch, identity))
        del tables["$database"]
        return json.dumps(tables).encode()

    path = state_folder() / f"{site}-{robot}" / "store.pending"
    journal = Journal(path, 100_000)
    with monkeypatch.context() as patch:
        patch.setattr("memory_node.store.journal.encode_batch", without_identity)
        for thing in things:
            batch, _ = Translator(site, robot, session_id).batch([seen(thing)], lambda position, error: None)
            assert journal.append(batch)
    journal.close()
    return path


def opened(url, *things, site="home", robot="r1"):
    """Open a store, write things, close it; return its session."""
    with open_store(url, robot, site, SMALL) as store:
        store.append(map(seen, things)).wait()
        return store.session_id


def counts(store):
    return {thing.id: thing.times_seen for thing in store.load_scene().objects}


def test_an_old_journal_reaches_the_database_that_knows_its_session(postgres, make_object, monkeypatch):
    url, mug, cup = postgres.create_database(), make_object(times_seen=1), make_object(times_seen=2)
    path = leave_journal(monkeypatch, opened(url, mug), [mug.changed(times_seen=9), cup])
    with open_store(url, "r1", "home", SMALL) as store:
        assert counts(store) == {mug.id: 9, cup.id: 2}
        assert (store.warning, store.diagnostics().rejected) == ("", 0)
    assert not path.exists()


def test_what_the_robot_has_learnt_since_stays(postgres, make_object, monkeypatch):
    url, mug, cup = postgres.create_database(), make_object(times_seen=1), make_object(times_seen=2)
    session_id = opened(url, mug)
    opened(url, mug.changed(times_seen=20))
    leave_journal(monkeypatch, session_id, [mug.changed(times_seen=9), cup])
    with open_store(url, "r1", "home", SMALL) as store:
        assert counts(store) == {mug.id: 20, cup.id: 2}


def test_another_database_gets_none_of_it_and_says_so(postgres, make_object, monkeypatch):
    first, second = postgres.create_database(), postgres.create_database()
    mug = make_object(times_seen=1)
    path = leave_journal(monkeypatch, opened(first), [mug])
    with open_store(second, "r1", "home", SMALL) as store:
        assert counts(store) == {}
        assert str(path) in store.warning
    with open_store(first, "r1", "home", SMALL) as store:
        assert counts(store) == {mug.id: 1}


def test_a_robot_whose_name_makes_the_same_path_gets_none_of_it(postgres, make_object, monkeypatch):
    url, mug, cup = postgres.create_database(), make_object(times_seen=1), make_object(times_seen=2)
    theirs = opened(url, site="a", robot="b-c")
    leave_journal(monkeypatch, opened(url, site="a-b", robot="c"), [mug], "a-b", "c")
    path = leave_journal(monkeypatch, theirs, [cup], "a", "b-c")
    with open_store(url, "b-c", "a", SMALL) as store:
        assert counts(store) == {cup.id: 2}
        assert "1 entries" in store.warning
    assert path.exists()
    with open_store(url, "c", "a-b", SMALL) as store:
        assert counts(store) == {mug.id: 1}
