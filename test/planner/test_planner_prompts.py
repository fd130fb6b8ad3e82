"""What the language model's planner is told, word by word: a change of a prompt is a change of behaviour."""

import textwrap

import jinja2

from memory_node.domain.resources import resource_path
from memory_node.domain.skill import FailureReason, SkillCall, SkillResult
from memory_node.domain.skill_library import SKILLS


def filled(template: str, **values: object) -> str:
    loader = jinja2.FileSystemLoader(str(resource_path("config/prompts")))
    prompts = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, trim_blocks=True)
    return prompts.get_template(template).render(**values)


def expect(said: str, expected: str) -> None:
    assert said.strip() == textwrap.dedent(expected).strip()


def test_step_system() -> None:
    skills = [SKILLS["GoToObject"], SKILLS["PickupObject"]]
    expect(
        filled("planner_step_system.j2", skills=skills),
        """
        You control a home robot with one arm. You are told an instruction and what the robot knows. Each time you """
        """answer with the one call that comes next, and with Done() when the instruction is carried out.
        GoToObject: drive to where the object can be reached
        PickupObject: grasp the object
        The hand holds one thing. Go to a thing before you use it. Open what is closed before you take something """
        """out or put something in.
        """,
    )


def test_step_task() -> None:
    values = {"memory": "## Guidelines\n- open it first", "things": ["Fridge", "Mug: on Fridge, dirty"], "held": ""}
    expect(
        filled(
            "planner_step_task.j2", **values, unknown=("Apple",), completed="wash the mug", instruction="fetch the mug"
        ),
        """
        ## Guidelines
        - open it first

        Things:
        Fridge
        Mug: on Fridge, dirty
        Not seen yet: Apple
        Hand: empty
        Done before: wash the mug
        Instruction: fetch the mug
        """,
    )


def test_step_task_without_memory() -> None:
    expect(
        filled(
            "planner_step_task.j2",
            memory="",
            things=[],
            unknown=(),
            held="Mug",
            completed="",
            instruction="put it down",
        ),
        """
        Things:
        none is known
        Hand: Mug
        Instruction: put it down
        """,
    )


def test_step_result() -> None:
    template = "planner_step_result.j2"
    expect(filled(template, reason="", remedy="", unmet=(), news=(), held=""), "Done.\nHand: empty")
    expect(
        filled(template, reason="closed", remedy="OpenObject(receptacle) first", unmet=(), news=(), held="Mug"),
        "Failed: closed. What usually helps: OpenObject(receptacle) first.\nHand: Mug",
    )
    expect(
        filled(template, reason="", remedy="", unmet=("no Mug is cleaned",), news=("Mug: dirty",), held=""),
        "Not done yet: no Mug is cleaned.\nNew: Mug: dirty\nHand: empty",
    )


def test_step_example_alternates_with_and_without_thoughts() -> None:
    plain = filled("planner_step_example.j2", thoughts=False).split("\n---\n")
    assert [turn.strip() for turn in plain[1::2]] == [
        "GoToObject(Fork)",
        "PickupObject(Fork)",
        "CleanObject(Fork)",
        "GoToObject(Drawer)",
        "OpenObject(Drawer)",
        "PutObject(Fork, Drawer)",
        "Done()",
    ]
    thought = filled("planner_step_example.j2", thoughts=True).split("\n---\n")
    assert all(turn.strip().splitlines()[0].startswith("Thought: ") for turn in thought[1::2])
    assert [turn.strip().splitlines()[-1] for turn in thought[1::2]] == [turn.strip() for turn in plain[1::2]]


def test_plan_task() -> None:
    expect(
        filled(
            "planner_task.j2",
            skills="",
            memory="",
            things=["Mug: on Fridge"],
            held="Mug",
            completed="",
            instruction="wash it",
        ),
        """
        # What the robot remembers
        Nothing: memory is empty or switched off.

        # Things by name
        - Mug: on Fridge

        # The robot now
        The hand holds Mug.

        # Instruction
        wash it
        """,
    )


def test_replan_after_a_failed_skill_and_after_an_unmet_goal() -> None:
    call = SkillCall("OpenObject", ("Fridge",))
    failed = SkillResult(call, False, FailureReason.TOO_FAR, "2.1 m")
    values = {"done": ["GoToObject(Sink)"], "held": "", "memory": "", "things": ["Fridge"]}
    said = filled("planner_replan.j2", failed=failed, remedy="GoToObject(object) first", unmet=(), **values)
    expect(
        said,
        """
        The plan stopped: `OpenObject(Fridge)` failed with reason too_far (2.1 m).
        What usually helps: GoToObject(object) first.
        Done so far: GoToObject(Sink).
        The hand is empty.

        Things by name:
        - Fridge

        Give the calls that finish the instruction from here, in one fenced block.
        """,
    )
    unmet = filled("planner_replan.j2", failed=None, remedy="", unmet=("no Mug is cleaned",), **values)
    assert unmet.startswith("All calls were done, and yet: no Mug is cleaned.\n")


def test_goals() -> None:
    expect(
        filled("planner_goals.j2", kinds=("place", "clean"), instruction="wash the mug"),
        """
        What does this instruction to a home robot ask for? List each goal in order, as JSON.
        kind: one of place, clean.
        object: the thing, one noun. place: where it ends; empty where the instruction does not say.

        Instruction: wash the mug
        """,
    )


def test_compiled_step() -> None:
    values = {"memory": ("Goal: tidy up", "Next: OpenObject(Fridge), because Fridge is closed."), "held": "Mug"}
    expect(
        filled("planner_step_compiled.j2", **values, news=["Mug: in the hand"], unmet=["no Mug in or on Fridge"]),
        """
        Changed: Mug: in the hand
        Not done yet: no Mug in or on Fridge.
        Hand: Mug
        Goal: tidy up
        Next: OpenObject(Fridge), because Fridge is closed.
        """,
    )
    expect(filled("planner_step_compiled.j2", memory=(), held="", news=[], unmet=[]), "Hand: empty")


def test_brief_prompts() -> None:
    expect(
        filled("planner_brief_system.j2", skills=()),
        "You control a home robot with one arm. Answer with the call that comes next.",
    )
    goals = ("clean Mug to Shelf",)
    expect(
        filled(
            "planner_brief_task.j2",
            memory="## Guidelines\n- open it first",
            things=["Mug: dirty", "SinkBasin"],
            unknown=("Shelf",),
            held="",
            completed="find the mug",
            instruction="wash the mug",
            goals=goals,
        ),
        """
        ## Guidelines
        - open it first

        Mug: dirty
        SinkBasin
        Not seen yet: Shelf
        Hand: empty
        Done before: find the mug
        Instruction: wash the mug
        Goals: clean Mug to Shelf
        """,
    )
    expect(
        filled("planner_brief_result.j2", reason="closed", unmet=(), news=(), held="Mug", goals=goals),
        "Failed: closed.\nHand: Mug\nGoals: clean Mug to Shelf",
    )
    expect(
        filled("planner_brief_result.j2", reason="", unmet=("it is dirty",), news=["Mug: dirty"], held="", goals=goals),
        "Not done yet: it is dirty.\nMug: dirty\nHand: empty\nGoals: clean Mug to Shelf",
    )
