"""The language model's planner against a local server that speaks the OpenAI protocol."""

import pytest
from understood import Understood

from memory_node.catalogue.label_space import load_catalogue
from memory_node.domain.answer import AnswerStatus, Location, Recollection
from memory_node.domain.context import ALL_SOURCES, Context, ContextSource
from memory_node.domain.errors import InvalidValueError
from memory_node.domain.goal_labels import GoalKind
from memory_node.domain.held_object import HeldObject, held_after
from memory_node.domain.ports import TextEmbedder
from memory_node.domain.scene import Area, SceneSnapshot
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult, StateChange
from memory_node.llm.chat import Reply
from memory_node.llm.open_model import ModelShelf
from memory_node.llm.openai_model import OpenAiModel
from memory_node.planner.executor import InstructionExecutor
from memory_node.planner.goal import Goal, Mention
from memory_node.planner.language.conversation import Conversation
from memory_node.planner.language.understanding import Understander
from memory_node.planner.llm_planner import LlmPlanner
from memory_node.planner.offline_planner import OfflinePlanner
from memory_node.planner.open_planner import open_planner
from memory_node.planner.planner import PlanningContext, ProgressKind
from memory_node.planner.planner_config import LlmConfig, PlannerConfig

FETCH_APPLE = 'Here you are:\n```python\nGoToObject("Apple")  # by memory\nPickupObject("Apple")\n```'


class EmptyMemory:
    """Remembers what the hand holds and nothing else; its context can be recognised in a prompt."""

    def __init__(self) -> None:
        self.held = None

    def recall(self, query):
        return Recollection((), AnswerStatus.UNKNOWN)

    def locate(self, query, max_areas=0):
        return Location((), (), AnswerStatus.UNKNOWN)

    def rank_search_areas(self, object_class, k=0):
        return ()

    def remember(self, changes):
        self.held = held_after(self.held, changes)
        return ("",) * len(changes)

    def held_object(self):
        return self.held

    def context(self, instruction, token_budget=2000, episode_id="", sources=ALL_SOURCES):
        return Context(f"context of {instruction}", f"MEMORY OF {instruction}")

    def scene(self):
        return SceneSnapshot(0)


class SmallHome(EmptyMemory):
    """Knows one area, at the origin."""

    def scene(self):
        return SceneSnapshot(0, areas=(Area("a1", "kitchen", (0.0, 0.0), ""),))


class ObedientRobot:
    """Does everything, except that the skills in `failing` fail once each."""

    def __init__(self, **failing: FailureReason) -> None:
        self.failing = failing
        self.calls: list[str] = []

    def execute(self, call: SkillCall) -> SkillResult:
        self.calls.append(str(call))
        reason = self.failing.pop(call.skill, None)
        if reason is not None:
            return SkillResult(call, False, reason, "not this time")
        changes = ()
        if call.skill in ("PickupObject", "PutObject"):
            name = call.arguments[0].partition("@")[0]
            changes = (StateChange(name, name, 1, held=call.skill == "PickupObject"),)
        return SkillResult(call, True, changes=changes)


FETCH = Goal(GoalKind.FETCH, Mention("apple", ("Apple",)))


def run(url: str, robot, instruction="bring me an apple", fallback=None, memory=None, goals=(FETCH,), **config):
    kinds = load_catalogue()
    settings = LlmConfig(base_url=url, model="m", **{"timeout_s": 5.0, "retries": 0, **config})
    planner = LlmPlanner(OpenAiModel(settings), settings, kinds, fallback or Understood(*goals), fallback is not None)
    progress = []
    result = InstructionExecutor(memory or EmptyMemory(), robot, planner).execute(
        instruction, on_progress=progress.append
    )
    return result, progress


def test_good_reply_is_executed_and_accounted(endpoint) -> None:
    server, robot = endpoint(FETCH_APPLE), ObedientRobot()
    result, progress = run(server.url, robot)
    assert result.success
    assert robot.calls == ["GoToObject(Apple)", "PickupObject(Apple)"]
    assert (result.outcome.planner, result.outcome.tokens_in, result.outcome.tokens_out) == ("llm", 100, 20)
    assert 0.0 < result.outcome.first_token_s < 5.0
    assert result.outcome.cost_usd == pytest.approx((100 * 2.5 + 20 * 10) / 1e6)
    assert any(one.kind is ProgressKind.PLAN and "GoToObject" in one.text for one in progress)


def test_every_step_tells_the_context_that_it_was_chosen_by(endpoint) -> None:
    settings = LlmConfig(base_url=endpoint(FETCH_APPLE).url, model="m", timeout_s=5.0)
    planner = LlmPlanner(OpenAiModel(settings), settings, load_catalogue(), Understood(FETCH), False)
    situation = PlanningContext(EmptyMemory(), lambda _: None, lambda _: None)
    steps = planner.run("fetch it", situation)
    first = next(steps)
    second = steps.send(SkillResult(first.call, True))
    assert [step.context_id for step in (first, second)] == ["context of fetch it"] * 2


def test_prompt_carries_skills_memory_and_instruction(endpoint) -> None:
    server = endpoint(FETCH_APPLE)
    run(server.url, ObedientRobot(), "fetch the fruit")
    prompt = server.prompts()
    assert "`PutObject(object, receptacle)`" in prompt
    assert "CleanObject" not in prompt.partition("# Examples")[0], "nothing is to be cleaned"
    assert "MEMORY OF fetch the fruit" in prompt
    assert "The hand is empty" in prompt


CLEAN = Goal(GoalKind.CLEAN, Mention("apple", ("Apple",)))


@pytest.mark.parametrize("brief", [False, True])
def test_prompts_of_all_instructions_begin_alike_and_tell_then_what_is_asked_besides(endpoint, brief: bool) -> None:
    said = {}
    for goal in (FETCH, CLEAN):
        server = endpoint(FETCH_APPLE)
        run(server.url, ObedientRobot(), goals=(goal,), brief=brief, max_replans=0)
        said[goal] = [message["content"] for message in server.requests[0]["messages"]]
    (first, fetching), (second, cleaning) = said[FETCH], said[CLEAN]
    assert first == second
    assert "`PickupObject(object)`" in first
    assert "`CleanObject(" not in first + fetching
    assert "`CleanObject(" in cleaning


class MemoryWithBudget(EmptyMemory):
    """Notes what it was asked to tell."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = set()

    def context(self, instruction, token_budget=2000, episode_id="", sources=ALL_SOURCES):
        self.asked.add((token_budget, frozenset(sources)))
        return super().context(instruction, token_budget, episode_id, sources)


@pytest.mark.parametrize(
    ("brief", "told"), [(False, (2000, ALL_SOURCES)), (True, (200, frozenset({ContextSource.EXPERIENCE})))]
)
def test_brief_plan_is_told_little_of_memory_and_no_places_besides_the_things(endpoint, brief: bool, told) -> None:
    memory = MemoryWithBudget()
    robot = ObedientRobot(PickupObject=FailureReason.EXECUTION)
    run(endpoint(FETCH_APPLE, FETCH_APPLE).url, robot, memory=memory, brief=brief)
    assert robot.calls.count("PickupObject(Apple)") == 2, "it was planned anew"
    assert memory.asked == {told}


def test_skills_that_the_robot_lacks_are_not_told_and_sent_back(endpoint) -> None:
    server = endpoint(FETCH_APPLE, '```python\nGoToObject("Apple")\n```')
    settings = LlmConfig(base_url=server.url, model="m", timeout_s=5.0, retries=0, max_replans=0)
    planner = LlmPlanner(OpenAiModel(settings), settings, load_catalogue(), Understood(FETCH), False)
    robot, skills = ObedientRobot(), frozenset({"GoToObject", "Explore"})
    InstructionExecutor(EmptyMemory(), robot, planner, skills=skills).execute("bring me an apple")
    assert robot.calls == ["GoToObject(Apple)"]
    assert "PickupObject is not available on this robot" in server.prompts()
    assert "`PutObject(" not in server.requests[0]["messages"][0]["content"]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("I am sorry, I cannot.", "cannot be read as calls"),
        ("```\n```", "no skill call"),
        ('FlyTo("Apple")', "expected one of"),
        ('PickupObject("Unicorn")', "neither a known id nor a class"),
        ('PickupObject("Apple@here")', "expected Class@x,y,z"),
        ('GoToObject("Apple@nan,nan,nan")', "within 100 km"),
        ('GoToObject("Apple@inf,0,0")', "within 100 km"),
        ('Explore("Apple", "nan,0")', "outside of the map"),
        ('GoToObject("Apple@1e300,0,0")', "within 100 km"),
        ('PutObject("Apple", "Bowl")', "the hand holds nothing"),
        ('PickupObject("Apple")\nPickupObject("Bowl")', "the hand holds Apple"),
        ('SliceObject("Apple")', "not Knife"),
        ("PickupObject(Apple)", "must be a string"),
        ('PickupObject(object="Apple")', "without names"),
        ('GoToObject("Apple")\nBreakObject("Bowl")', "does not ask for BreakObject"),
        ('for i in range(3):\n    PickupObject("Apple")', "no skill call"),
    ],
)
def test_faulty_reply_is_sent_back_with_the_precise_error(endpoint, reply: str, said: str) -> None:
    server, robot = endpoint(reply, FETCH_APPLE), ObedientRobot()
    result, _ = run(server.url, robot)
    assert result.success
    assert said in server.requests[1]["messages"][-1]["content"]
    assert robot.calls == ["GoToObject(Apple)", "PickupObject(Apple)"]


@pytest.mark.parametrize(
    "reply",
    [
        '__import__("os").system("touch {path}")',
        'PickupObject(__import__("os").system("touch {path}"))',
        'PickupObject("Apple" if open("{path}", "w") else "Bowl")',
        '(lambda: open("{path}", "w"))()',
        "PickupObject(f\"{{open('{path}', 'w')}}\")",
        "(" * 3000,
        "PickupObject('" + "A" * 30_000 + "')",
    ],
)
def test_hostile_reply_is_never_executed(endpoint, tmp_path, reply: str) -> None:
    path = tmp_path / "made"
    server, robot = endpoint(reply.replace("{path}", str(path)), FETCH_APPLE), ObedientRobot()
    run(server.url, robot)
    assert not path.exists()
    assert robot.calls == ["GoToObject(Apple)", "PickupObject(Apple)"]


def test_plan_that_handles_what_no_word_names_is_sent_back_before_the_first_motion(endpoint) -> None:
    swapped = 'GoToObject("AlarmClock")\nPickupObject("AlarmClock")'
    server, robot = endpoint(swapped, FETCH_APPLE), ObedientRobot()
    result, _ = run(server.url, robot, "bring me an apple")
    assert result.success
    assert "no word of the instruction stands for AlarmClock" in server.requests[1]["messages"][-1]["content"]
    assert robot.calls == ["GoToObject(Apple)", "PickupObject(Apple)"]


def test_repairs_are_bounded(endpoint) -> None:
    server, robot = endpoint(*["no plan"] * 3), ObedientRobot()
    result, _ = run(server.url, robot, max_repairs=2)
    assert not result.success
    assert len(server.requests) == 3
    assert "no plan" in result.failure
    assert (result.outcome.planner, result.outcome.replies, result.outcome.valid_replies) == ("llm", 3, 0)
    assert result.outcome.tokens_in == 300
    assert robot.calls == []


def test_failed_skill_brings_a_new_plan_with_feedback(endpoint) -> None:
    server = endpoint(FETCH_APPLE, 'PickupObject("Apple")')
    robot = ObedientRobot(PickupObject=FailureReason.TOO_FAR)
    result, _ = run(server.url, robot)
    assert result.success
    feedback = server.requests[1]["messages"][-1]["content"]
    assert "too_far" in feedback
    assert "GoToObject(Apple)" in feedback
    assert robot.calls == ["GoToObject(Apple)", "PickupObject(Apple)", "PickupObject(Apple)"]


def test_hand_that_the_robot_finds_empty_is_empty_for_memory_too(endpoint) -> None:
    server, memory = endpoint('PutObject("Plate", "Fridge")', FETCH_APPLE), EmptyMemory()
    memory.held = HeldObject("p1", "Plate")
    robot = ObedientRobot(PutObject=FailureReason.HAND_EMPTY)
    result, _ = run(server.url, robot, memory=memory)
    assert result.success
    assert "The hand is empty" in server.requests[1]["messages"][-1]["content"]
    assert memory.held == HeldObject("Apple", "Apple")


def test_replans_are_bounded(endpoint) -> None:
    server = endpoint(*[FETCH_APPLE] * 3)

    class Refusing(ObedientRobot):
        def execute(self, call):
            self.calls.append(str(call))
            return SkillResult(call, False, FailureReason.NOT_FOUND)

    result, _ = run(server.url, Refusing(), max_replans=2)
    assert not result.success
    assert len(server.requests) == 3
    assert "not_found" in result.outcome.failures[-1]


@pytest.mark.parametrize("call", ['GoToObject("Apple@40,0,0.9")', 'Explore("Apple", "0,-40")'])
def test_position_outside_the_known_map_is_sent_back(endpoint, call: str) -> None:
    server, robot = endpoint(call, FETCH_APPLE), ObedientRobot()
    result, _ = run(server.url, robot, memory=SmallHome())
    assert result.success
    assert "outside of the map" in server.requests[1]["messages"][-1]["content"]
    assert robot.calls == ["GoToObject(Apple)", "PickupObject(Apple)"]


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param([b"\x00\xff no HTTP \r\n\r\n"], id="garbage"),
        pytest.param([HEAD, b"data: {broken\n\n"], id="broken JSON"),
        pytest.param([HEAD, b'data: {"choices": [{"delta": {"content": "\\udfff"}}]}\n\n'], id="lone surrogate"),
        pytest.param([HEAD, *[b"x" * 65_536] * 100], id="no end"),
        pytest.param([HEAD], id="nothing"),
        pytest.param([b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"], id="500"),
    ],
)
def test_whatever_an_endpoint_sends_the_offline_planner_carries_on(hostile, word_embedder, sent: list[bytes]) -> None:
    server = hostile(lambda connection: [connection.sendall(part) for part in sent])
    kinds, robot = load_catalogue(), ObedientRobot()
    offline = OfflinePlanner(Understander(kinds, None, word_embedder), kinds, max_failures=1)
    result, progress = run(server.url, robot, "find the apple", fallback=offline)
    assert result.outcome.planner == "offline (fallback)"
    assert any("offline planner carries on" in one.text for one in progress)
    assert robot.calls[0].startswith("Explore(Apple")


def test_model_that_is_not_there_is_named_and_the_offline_planner_carries_on(word_embedder) -> None:
    kinds, robot = load_catalogue(), ObedientRobot()
    offline = OfflinePlanner(Understander(kinds, None, word_embedder), kinds, max_failures=1)
    config = LlmConfig(model_path="/nowhere/model.gguf")
    planner = LlmPlanner(ModelShelf().open_or_excuse(config), config, kinds, offline, True)
    notes: list[str] = []
    executor = InstructionExecutor(EmptyMemory(), robot, planner)
    result = executor.execute("find the apple", on_progress=lambda one: notes.append(one.text))
    assert result.outcome.planner == "offline (fallback)"
    assert any("/nowhere/model.gguf is no file" in note for note in notes)


def test_silent_endpoint_times_out_and_the_offline_planner_says_that_it_took_over(endpoint, word_embedder) -> None:
    server, robot = endpoint(*[3.0] * 4), ObedientRobot()
    kinds = load_catalogue()
    offline = OfflinePlanner(Understander(kinds, None, word_embedder), kinds, max_failures=1)
    result, progress = run(server.url, robot, "find the apple", fallback=offline, timeout_s=0.3)
    assert result.outcome.planner == "offline (fallback)"
    assert any(one.kind is ProgressKind.NOTE and "offline planner carries on" in one.text for one in progress)
    assert robot.calls[0].startswith("Explore(Apple")


def test_refusing_endpoint_without_fallback_fails_with_the_reason(endpoint) -> None:
    server, robot = endpoint(*[401] * 4), ObedientRobot()
    result, _ = run(server.url, robot)
    assert not result.success
    assert "401" in result.failure
    assert robot.calls == []


def test_plan_that_leaves_a_goal_unmet_is_sent_back_with_what_is_missing(endpoint) -> None:
    server, robot = endpoint('GoToObject("Apple")', 'PickupObject("Apple")'), ObedientRobot()
    result, _ = run(server.url, robot)
    assert result.success
    assert "the hand holds nothing, not Apple" in server.requests[1]["messages"][-1]["content"]
    assert (result.outcome.replans, result.outcome.goals) == (1, ("fetch Apple",))


def test_going_to_the_apple_is_no_success_of_fetching_it(endpoint) -> None:
    server = endpoint(*['GoToObject("Apple")'] * 3)
    result, _ = run(server.url, ObedientRobot(), max_replans=2)
    assert not result.success
    assert result.outcome.failures == ("fetch Apple: the hand holds nothing, not Apple",)


def test_goals_that_memory_sees_met_are_a_success_although_the_last_skill_failed(endpoint) -> None:
    server = endpoint('GoToObject("Apple")\nPickupObject("Apple")\nCloseObject("Fridge")')
    result, _ = run(server.url, ObedientRobot(CloseObject=FailureReason.TOO_FAR), max_replans=0)
    assert result.success


SAID = '{"goals": [{"kind": "fetch", "object": "apple"}]}'


def test_goals_that_no_reader_follows_are_said_by_the_model_which_sees_the_instruction_alone(endpoint) -> None:
    server, robot = endpoint(SAID, FETCH_APPLE), ObedientRobot()
    result, progress = run(server.url, robot, "get hold of an apple", goals=())
    assert result.success
    assert result.outcome.goals == ("fetch Apple",)
    assert server.requests[0]["response_format"]["type"] == "json_schema"
    assert "MEMORY" not in server.requests[0]["messages"][-1]["content"]
    assert ("fetch Apple",) in [one.goals for one in progress]


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ('{"goals": []}', "schema"),
        ('{"goals": [{"kind": "fetch", "object": "unicorn"}]}', "'unicorn' is no class"),
        ('{"goals": [{"kind": "place", "object": "apple"}]}', "where to?"),
        ('{"goals": [{"kind": "obey", "object": "apple"}]}', "schema"),
    ],
)
def test_goals_that_are_none_are_sent_back(endpoint, said: str, error: str) -> None:
    server = endpoint(said, SAID, FETCH_APPLE)
    result, _ = run(server.url, ObedientRobot(), goals=())
    assert error in server.requests[1]["messages"][-1]["content"]
    assert result.outcome.goals == ("fetch Apple",)


def test_nothing_is_done_where_nobody_can_say_what_the_goals_are(endpoint) -> None:
    robot = ObedientRobot()
    result, progress = run(endpoint("no", "no", FETCH_APPLE).url, robot, goals=(), max_repairs=1)
    assert "I did not understand 'bring me an apple'" in result.outcome.question
    assert any("nobody can say what the goals are" in one.text for one in progress)
    assert (result.outcome.replies, result.outcome.valid_replies) == (2, 0)
    assert robot.calls == []


@pytest.mark.parametrize("instruction", ["", "  ", "?!"])
def test_empty_instruction_is_refused_before_the_model_is_asked(endpoint, instruction: str) -> None:
    server, robot = endpoint(FETCH_APPLE), ObedientRobot()
    result, _ = run(server.url, robot, instruction)
    assert "empty" in result.failure
    assert server.requests == []


def test_names_of_things_stand_for_their_places(endpoint, kitchen) -> None:
    plan = """
GoToObject("Fridge")
OpenObject("Fridge")
GoToObject("Mug 2")
PickupObject("Mug 2")
"""
    result, _ = run(endpoint(plan).url, kitchen, "bring me a mug", memory=kitchen, goals=(MUG,))
    assert result.success
    assert kitchen.calls[2:] == ["GoToObject(Mug@4.000,0.000,0.900)", "PickupObject(Mug@4.000,0.000,0.900)"]


MUG = Goal(GoalKind.FETCH, Mention("mug", ("Mug",)))


def test_model_in_this_process_is_held_to_valid_plans(kitchen) -> None:
    class Held:
        name = "held"

        def __init__(self) -> None:
            self.forms = []

        def reply(self, messages, deadline=None, form=None, on_line=None):
            self.forms.append(form)
            return Reply('GoToObject("Mug")\nPickupObject("Mug")\n', 10, 5)

        def count_tokens(self, text):
            return 1

    settings, model = LlmConfig(mode="plan"), Held()
    planner = LlmPlanner(model, settings, load_catalogue(), Understood(MUG), False)
    assert InstructionExecutor(kitchen, kitchen, planner).execute("bring me a mug").success
    grammar = model.forms[0].grammar
    assert '"PickupObject("' in grammar
    assert "BreakObject" not in grammar
    assert '\\"Mug 2\\"' in grammar.replace('Mug" (', 'Mug" (')


def test_rank_needs_likelihoods_which_endpoints_do_not_tell(word_embedder) -> None:
    config = PlannerConfig(llm=LlmConfig(mode="rank", base_url="http://127.0.0.1:9/v1"))
    with pytest.raises(InvalidValueError, match="rank needs a model in this process"):
        open_planner("llm", word_embedder, config)


@pytest.fixture
def offline(word_embedder: TextEmbedder) -> OfflinePlanner:
    kinds = load_catalogue()
    return OfflinePlanner(Understander(kinds, None, word_embedder), kinds)


@pytest.mark.parametrize("instruction", ["put the mug on the table", "slice it", "wash"])
def test_what_words_leave_open_is_asked_and_no_model_decides_it(endpoint, offline, instruction) -> None:
    server, robot = endpoint(), ObedientRobot()
    result, progress = run(server.url, robot, instruction, fallback=offline)
    assert result.outcome.question
    assert any(one.kind is ProgressKind.QUESTION for one in progress)
    assert (robot.calls, server.requests) == ([], [])


def test_question_is_answered_from_memory_without_the_model(endpoint, offline) -> None:
    server, robot = endpoint(), ObedientRobot()
    result, _ = run(server.url, robot, "where is the mug?", fallback=offline)
    assert result.outcome.answer
    assert (robot.calls, server.requests) == ([], [])


def test_goals_that_no_word_names_are_sent_back(endpoint, offline) -> None:
    wrong = '{"goals": [{"kind": "place", "object": "AlarmClock", "place": "SinkBasin"}]}'
    server, robot = endpoint(*[wrong] * 4), ObedientRobot()
    result, _ = run(server.url, robot, "would the egg not be better off in the fridge by now", fallback=offline)
    assert not result.success
    assert "no word" in server.prompts()
    assert robot.calls == []


def test_model_is_told_what_was_done_before(endpoint) -> None:
    server, conversation = endpoint(FETCH_APPLE), Conversation(completed="wash the apple")
    settings = LlmConfig(base_url=server.url, model="m", timeout_s=5.0)
    planner = LlmPlanner(OpenAiModel(settings), settings, load_catalogue(), Understood(FETCH), False)
    InstructionExecutor(EmptyMemory(), ObedientRobot(), planner, conversation=conversation).execute("now bring it")
    assert "wash the apple" in server.prompts()
    assert conversation.completed == "now bring it"
