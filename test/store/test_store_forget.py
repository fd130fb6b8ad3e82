"""What is forgotten is gone: from rows, free pages, write-ahead log, journal, images and backups."""

import json
import threading

import pytest
import sqlalchemy as sa

from memory_node.domain.errors import InvalidValueError, NotFoundError
from memory_node.domain.geometry import OrientedBox
from memory_node.domain.resources import picture_name
from memory_node.domain.scene import Place, SceneEvent, SceneEventKind
from memory_node.domain.skill import FailureReason, SkillCall, StateChange
from memory_node.domain.states import ObjectState, StateBelief
from memory_node.domain.step import EpisodeSummary, StepRecord
from memory_node.store.apply import tombstone_of
from memory_node.store.backup import restore
from memory_node.store.engine import open_for_reading
from memory_node.store.forget import forget
from memory_node.store.forget_plan import ForgetRequest, Terms
from memory_node.store.journal import Journal
from memory_node.store.location import Folders
from memory_node.store.records import Document

TABLE, MUG, PILLS = "0191-table", "0191-mug", "0191-pills"
PILLS_PICTURE = bytes(range(142, 190))
SCOPES = [{"object_ids": (PILLS,)}, {"area_id": "a2"}, {"class_name": "Pillbox"}, {"label": "Anna"}]


def everything_under(folder):
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def ids(store):
    return [o.id for o in store.load_scene().objects]


@pytest.fixture
def home(open_at, store_url, remember_home):
    """A filled store on a database of each kind."""
    store = open_at(store_url)
    remember_home(store)
    return store


@pytest.fixture
def home_on_file(open_at, remember_home, tmp_path):
    """A filled store on a file."""
    store = open_at(str(tmp_path / "memory.db"))
    remember_home(store)
    return store


@pytest.mark.parametrize("scope", SCOPES, ids=lambda scope: next(iter(scope)))
def test_forgotten_thing_is_gone_with_all_that_only_it_supported(scope, home):
    report = home.forget(ForgetRequest(**scope))
    assert report.verified, report.found
    assert report.object_ids == (PILLS,)
    assert ids(home) == [MUG, TABLE]
    assert [r.source_id for r in home.load_scene().relations] == ["a1"]
    assert [episode.id for episode in home.episodes()] == ["e1"]
    assert {step.episode_id for step in home.steps()} == {"e1"}
    assert [document.id for document in home.documents("guideline")] == ["g-both", "g-mug"]
    assert home.documents("proposition") == [], "it was learned from a guideline that is gone"
    assert home.documents("guideline")[0].sources == (("step", "e1:1"),)
    assert home.is_forgotten("object", PILLS)
    assert home.is_forgotten("episode", "e2")
    assert not home.is_forgotten("object", MUG)


def test_files_hold_nothing_of_it_afterwards(home_on_file, tmp_path):
    picture = home_on_file.crops / picture_name(PILLS, PILLS_PICTURE)
    picture.parent.mkdir(parents=True)
    picture.write_bytes(b"\xff\xd8" + PILLS_PICTURE)
    pills = next(o for o in home_on_file.load_scene().objects if o.id == PILLS)
    # Updates leave old versions in free pages and in the write-ahead log.
    for number in range(30):
        home_on_file.append([SceneEvent(SceneEventKind.UPDATED, 2, pills.changed(times_seen=number + 2))]).wait()
    home_on_file.backup(tmp_path / "yesterday.backup")
    held = everything_under(tmp_path)
    assert PILLS.encode() in held
    assert PILLS_PICTURE in held
    report = home_on_file.forget(ForgetRequest(label="anna"))
    assert report.verified, report.found
    assert report.backups == (str(tmp_path / "yesterday.backup"),)
    held = everything_under(tmp_path)
    for trace in (PILLS.encode(), PILLS_PICTURE, b"Anna", "Bergström".encode(), b"pillbox"):
        assert trace not in held
    assert MUG.encode() in held


def test_server_files_hold_nothing_of_it_afterwards(open_at, remember_home, postgres):
    url = postgres.create_database(empty=True)
    store = open_at(url)
    remember_home(store)

    def held():
        return b"".join(everything_under(folder) for folder in postgres.files_of(url))

    assert PILLS.encode() in held()
    with store._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.text("ANALYZE"))  # which a server does by itself, and keeps common values
    report = store.forget(ForgetRequest(object_ids=(PILLS,)))
    assert report.verified
    assert any("pg_wal" in note for note in report.notes)
    assert PILLS.encode() not in held()
    assert MUG.encode() in held()


def test_server_files_hold_nothing_of_what_another_session_could_still_see(open_at, remember_home, postgres):
    url = postgres.create_database(empty=True)
    store = open_at(url)
    remember_home(store)
    reader = store._engine.connect().execution_options(isolation_level="REPEATABLE READ")
    reader.execute(sa.text("SELECT 1"))  # its snapshot sees what is there now
    ending = threading.Timer(1.0, reader.close)
    ending.start()
    assert store.forget(ForgetRequest(object_ids=(PILLS,))).verified
    ending.join()
    assert PILLS.encode() not in b"".join(everything_under(folder) for folder in postgres.files_of(url))


def test_log_says_that_but_not_what_was_forgotten(home):
    home.forget(ForgetRequest(label="Anna's pills"))
    with home._engine.connect() as connection:
        logged = connection.execute(sa.text("SELECT scope, counts, robot_id FROM forgettings")).one()
    assert logged.scope == "label"
    assert json.loads(logged.counts)["objects"] == 1
    assert logged.robot_id == "r1"
    assert "Anna" not in str(logged)


def test_texts_that_mention_it_are_blackened(home):
    report = home.forget(ForgetRequest(object_ids=(MUG,)))
    assert report.blackened > 0
    (step,) = [step for step in home.steps() if step.episode_id == "e1"]
    assert step.action.arguments == (TABLE,), "the step on the mug itself is gone"
    assert step.held_object == ""
    (other,) = [step for step in home.steps() if step.episode_id == "e2"]
    assert other.visible == (PILLS,)


def test_backup_made_before_cannot_bring_it_back(home_on_file, tmp_path):
    stray = tmp_path / "stray.backup"
    home_on_file.backup(tmp_path / "known.backup")
    stray.write_bytes((tmp_path / "known.backup").read_bytes())
    home_on_file.forget(ForgetRequest(class_name="mug"))
    with open_for_reading(tmp_path / "known.backup").connect() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM objects WHERE site = 'home'")).scalar_one() == 2
    restore(home_on_file._engine, home_on_file.site, stray, "r1", replace=True)
    assert ids(home_on_file) == [PILLS, TABLE]


def test_robot_that_was_offline_cannot_bring_it_back(
    open_at, make_object, remember_home, store_url, tmp_path, next_change
):
    here = open_at(store_url, "r1")
    remember_home(here)
    there = open_at(store_url, "r2", journal_path=str(tmp_path / "r2.pending"))
    mug = next(o for o in there.load_scene().objects if o.id == MUG)
    here.forget(ForgetRequest(object_ids=(MUG,)))
    there.append([SceneEvent(SceneEventKind.UPDATED, 9, mug), StateChange(MUG, "mug", 9)]).wait()
    assert ids(here) == [PILLS, TABLE]
    change = next_change(there)
    assert change.gone == (MUG,)
    assert tombstone_of("object", MUG) in change.forgotten


def test_document_may_be_learned_again_from_new_evidence(home):
    home.forget(ForgetRequest(object_ids=(PILLS,)))
    old = Document("guideline", "g-pills", {"text": "knock first"}, 1, (("step", "e9:1"),))
    home.append([old]).wait()
    assert "g-pills" not in [d.id for d in home.documents("guideline")]
    home.put_documents("guideline", [("g-pills", {"text": "wait outside"}, [("step", "e9:1")])]).wait()
    assert dict(home.documents("guideline")[-1].body) == {"text": "wait outside"}


def test_time_span_takes_back_what_only_it_told(open_at, store_url, make_object):
    box = OrientedBox([9.0, 9.0, 0.5], [0.1, 0.1, 0.1])
    store = open_at(store_url)
    before = make_object(first_seen_ns=10, last_seen_ns=20)
    within = make_object(first_seen_ns=110, last_seen_ns=120)
    seen_again = make_object(
        first_seen_ns=10,
        last_seen_ns=150,
        area_id="a2",
        states=(StateBelief(ObjectState.DIRTY, 0.9, 15), StateBelief(ObjectState.OPENED, 0.9, 150)),
        history=(Place(10, 140, box, "a1"),),
    )
    store.append(SceneEvent(SceneEventKind.APPEARED, 10, o) for o in (before, within, seen_again))
    store.append(
        [Document("guideline", "g1", {"text": "x"}, 130), Document("guideline", "g2", {"text": "y"}, 30)]
    ).wait()
    report = store.forget(ForgetRequest(from_ns=100, until_ns=200))
    assert report.object_ids == (within.id,)
    left = {o.id: o for o in store.load_scene().objects}
    assert set(left) == {before.id, seen_again.id}
    back = left[seen_again.id]
    assert (back.first_seen_ns, back.last_seen_ns, back.area_id, back.history) == (10, 99, "a1", ())
    assert back.box.center.tolist() == [9.0, 9.0, 0.5]
    assert [belief.state for belief in back.states] == [ObjectState.DIRTY]
    assert [document.id for document in store.documents("guideline")] == ["g2"]


def test_robot_is_forgotten_but_what_others_saw_stays(open_at, store_url, make_object, tmp_path):
    here = open_at(store_url, "r1")
    there = open_at(store_url, "r2", journal_path=str(tmp_path / "r2.pending"))
    both, alone = make_object(times_seen=3), make_object()
    here.append([SceneEvent(SceneEventKind.APPEARED, 1, both)]).wait()
    there.append(SceneEvent(SceneEventKind.APPEARED, 1, o) for o in (both, alone)).wait()
    assert {o.id: o.times_seen for o in here.load_scene().objects} == {both.id: 6, alone.id: 1}
    here.forget(ForgetRequest(robot_id="r2"))
    assert {o.id: o.times_seen for o in here.load_scene().objects} == {both.id: 3}


def test_request_that_fits_nothing_says_so(home):
    for request in (ForgetRequest(object_ids=("0191-none",)), ForgetRequest(label="Berta")):
        with pytest.raises(NotFoundError):
            home.forget(request)
    assert len(ids(home)) == 3


@pytest.mark.parametrize("scope", [{}, {"label": " "}, {"label": "a", "area_id": "b"}, {"from_ns": 5, "until_ns": 3}])
def test_request_needs_exactly_one_scope(scope):
    with pytest.raises(InvalidValueError):
        ForgetRequest(**scope)


def test_terms_match_whole_words_and_ids():
    uuid = "019aa000-0000-7000-8000-000000000001"
    terms = Terms(["Ann"], [uuid, "0191-mug"])
    assert terms.blacken(f"ann met Anna near {uuid}.") == "[forgotten] met Anna near [forgotten]."
    assert terms.found_in("on 0191-MUG!")
    assert Terms(['a "best" mug']).found_in('{"label": "my A \\"best\\" mug"}'), "JSON escapes it"
    assert not terms.found_in("019aa000-0000-7000-8000-000000000002 0191-mud")


def test_damaged_backup_is_named_and_does_not_keep_the_rest_remembered(home_on_file, tmp_path):
    damaged, whole = tmp_path / "damaged.backup", tmp_path / "whole.backup"
    for path in (damaged, whole):
        home_on_file.backup(path)
    damaged.write_bytes(damaged.read_bytes()[:20_000])
    report = home_on_file.forget(ForgetRequest(object_ids=(PILLS,)))
    assert not report.verified
    assert report.backups == (str(whole),)
    assert any(str(damaged) in note and "delete it" in note for note in report.notes)
    assert PILLS.encode() not in whole.read_bytes()
    assert ids(home_on_file) == [MUG, TABLE]


def test_id_of_a_forgotten_episode_stays_in_no_learnt_thing(home):
    body = {"text": "look on the table", "episode_ids": ["e1", "e2"]}
    home.put_documents("guideline", [("g-two", body, [("episode", "e1"), ("episode", "e2")])]).wait()
    request = ForgetRequest(label="Anna")
    assert home.episodes_of(request) == {"e2"}
    assert home.forget(request).verified
    kept = next(document for document in home.documents("guideline") if document.id == "g-two")
    assert kept.body == {"text": "look on the table", "episode_ids": ["e1"]}
    assert kept.sources == (("episode", "e1"),)


def test_name_of_the_site_is_no_remembered_text(open_at, store_url, make_object):
    store = open_at(store_url, site="anna")
    mine = make_object(attributes={"owner": "Anna"})
    store.append([SceneEvent(SceneEventKind.APPEARED, 1, mine)]).wait()
    report = store.forget(ForgetRequest(label="Anna"))
    assert report.verified, report.found
    assert ids(store) == []


def test_what_waits_in_a_journal_is_named_as_a_trace(home_on_file, tmp_path):
    folders = Folders(tmp_path / "other.data", tmp_path / "other.pending")
    journal = Journal(folders.journal, 100_000)
    journal.open()
    journal.append({"episodes": {("e9",): {"id": "e9", "instruction": "ask Anna"}}})
    report = forget(home_on_file._engine, home_on_file.site, ForgetRequest(label="Anna"), "other", folders)
    assert not report.verified
    assert "other.pending" in report.found[0]
    journal.close()


def test_numbers_of_a_record_are_no_words_of_a_label(open_at, make_object, tmp_path):
    store = open_at(str(tmp_path / "memory.db"))
    dirty = make_object(states=(StateBelief(ObjectState.DIRTY, 0.9, 4711),))
    store.append([SceneEvent(SceneEventKind.APPEARED, 1, dirty)]).wait()
    with pytest.raises(NotFoundError):
        store.forget(ForgetRequest(label="4711"))


def test_many_objects_are_forgotten_at_once(open_at, make_object, tmp_path):
    store = open_at(str(tmp_path / "memory.db"))
    mugs = [make_object(crop_jpeg=b"\xff\xd8" + bytes(range(n, n + 100))) for n in range(60)]
    table = make_object(class_probabilities={"table": 1.0})
    store.append(SceneEvent(SceneEventKind.APPEARED, 1, thing) for thing in (*mugs, table)).wait()
    episode = [
        StepRecord("e1", n, SkillCall("PickUp", (mug.id,)), True, FailureReason.NONE, n) for n, mug in enumerate(mugs)
    ]
    kept = StepRecord(
        "e1", 60, SkillCall("GoTo", (table.id,)), True, FailureReason.NONE, 60, visible=(mugs[0].id, table.id)
    )
    store.append([EpisodeSummary("e1", "tidy up", "fetch", 1), *episode, kept]).wait()
    report = store.forget(ForgetRequest(class_name="mug"))
    assert report.verified, report.found
    assert report.counts["steps"] == report.counts["objects"] == 60
    assert [(step.index, step.visible) for step in store.steps()] == [(60, (table.id,))]
