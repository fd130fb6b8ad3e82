"""Two rooms in ScienceWorld's words, for tests without its engine."""

from collections.abc import Callable

CLOSING = ("fridge", "cupboard")
SWITCHED = ("sink", "stove")
FORMS = (
    "activate OBJ; close OBJ; deactivate OBJ; focus on OBJ; go OBJ; look around; move OBJ to OBJ; open OBJ; "
    "pick up OBJ; wait"
)


class SmallLesson:
    """A kitchen and a hallway behind a door. layout: what is in or on each thing of the kitchen; done: whether the task
    is. held: what the robot has brought along."""

    def __init__(
        self,
        task: str,
        done: Callable[["SmallLesson"], bool] = lambda _: False,
        layout: dict[str, list[str]] | None = None,
        room: str = "hallway",
    ) -> None:
        self.layout = {"fridge": ["ice cream"], "stove": [], "sink": [], "red box": [], "table": ["metal pot"]}
        self.layout.update(layout or {})
        self.door = False
        self.room = room
        self.opened: set[str] = set()
        self.on: set[str] = set()
        self.held = ["orange"]
        self.focused: list[str] = []
        self.sent: list[str] = []
        self._done = done
        carried = "\n".join(f"\ta {name}" for name in self.held)
        self.text = f"{self._look()}\nIn your inventory, you see:\n{carried}\n\n"
        self.text += f"Commands have these forms: {FORMS}. OBJ and LOC stand for names.\n\nYour task is to: {task}"

    @property
    def over(self) -> bool:
        return self.won

    @property
    def won(self) -> bool:
        return self._done(self)

    @property
    def score(self) -> float:
        return float(self.won)

    @property
    def commands(self) -> list[str]:
        other = "kitchen" if self.room == "hallway" else "hallway"
        doors = [f"go to {other}", f"close door to {other}"] if self.door else [f"open door to {other}"]
        if self.room == "hallway":
            return ["look around", "wait", *doors]
        things = [one for one in self._reachable() if one not in self.layout]
        return [
            *("look around", "wait", *doors),
            *(f"open {name}" for name in CLOSING if name in self.layout and name not in self.opened),
            *(f"{'deactivate' if name in self.on else 'activate'} {name}" for name in SWITCHED),
            *(f"pick up {name}" for name in things),
            *(f"focus on {name}" for name in (*things, *self.held, *self.layout)),
            *(f"move {name} to {place}" for name in (*things, *self.held) for place in self.layout),
        ]

    def close(self) -> None:
        pass

    def send(self, command: str) -> str:
        self.sent.append(command)
        verb, _, rest = command.partition(" ")
        act = getattr(self, f"_{verb}", None)
        return act(rest) if act is not None else "No known action matches that input."

    def _look(self, rest: str = "around") -> str:
        if rest.startswith("in "):
            name = rest.removeprefix("in ")
            listed = self.layout.get(name, [])
            return f"Inside the {name} is: \n" + ("\n".join(f"\ta {one}" for one in listed) or "\tnothing")
        state = "open" if self.door else "closed"
        if self.room == "hallway":
            return (
                "This room is called the hallway. In it, you see: \n\tthe agent\n\ta substance called air\n"
                "\ta picture\n"
                f"You also see:\n\tA door to the kitchen (that is {state})"
            )
        items = "\n".join(f"\t{self._told(name)}" for name in self.layout)
        return (
            "This room is called the kitchen. In it, you see: \n\tthe agent\n\ta substance called air\n"
            f"{items}\nYou also see:\n\tA door to the hallway (that is {state})"
        )

    def _told(self, name: str) -> str:
        listed = ", ".join(f"a {one}" for one in self.layout[name]) or "nothing"
        if name == "red box":
            return f"a red box (containing {listed})"
        if name in CLOSING:
            if name not in self.opened:
                return f"a {name}. The {name} door is closed. "
            return f"a {name}. The {name} door is open. In the {name} is: {listed}."
        switched = f", which is turned {'on' if name in self.on else 'off'}" if name in SWITCHED else ""
        return f"a {name}{switched}. On the {name} is: {listed}."

    def _reachable(self) -> list[str]:
        if self.room != "kitchen":
            return []
        return [one for name, things in self.layout.items() if self._is_open(name) for one in things]

    def _is_open(self, name: str) -> bool:
        return name not in CLOSING or name in self.opened

    def _open(self, rest: str) -> str:
        if rest.startswith("door to "):
            opened, self.door = self.door, True
            return "The door is already open." if opened else "The door is now open."
        if rest not in CLOSING:
            return f"The {rest} is not openable."
        self.opened.add(rest)
        return f"The {rest} is now open."

    def _close(self, rest: str) -> str:
        self.opened.discard(rest)
        return f"The {rest} is now closed."

    def _go(self, rest: str) -> str:
        if not self.door:
            return "It's not clear how to get there from here."
        self.room = rest.removeprefix("to ")
        return f"You move to the {self.room}."

    def _pick(self, rest: str) -> str:
        name = rest.removeprefix("up ")
        if name in self.layout:
            return f"The {name} is not moveable."
        if name not in self._reachable():
            return "No known action matches that input."
        for things in self.layout.values():
            if name in things:
                things.remove(name)
        self.held.append(name)
        return f"You move the {name} to the inventory."

    def _move(self, rest: str) -> str:
        name, place = rest.split(" to ")
        if place not in self.layout or name not in (*self.held, *self._reachable()):
            return "No known action matches that input."
        if not self._is_open(place):
            return f"That can't be moved there, because the {place} isn't open."
        for things in (self.held, *self.layout.values()):
            if name in things:
                things.remove(name)
        self.layout[place].append(name)
        return f"You move the {name} to the {place}."

    def _activate(self, rest: str) -> str:
        if rest not in SWITCHED:
            return f"The {rest} is not something that can be activated."
        self.on.add(rest)
        return f"The {rest} is now activated."

    def _deactivate(self, rest: str) -> str:
        self.on.discard(rest)
        return f"The {rest} is now deactivated."

    def _focus(self, rest: str) -> str:
        self.focused.append(rest.removeprefix("on "))
        return f"You focus on the {self.focused[-1]}."

    def _wait(self, rest: str) -> str:
        return "You decide to wait for 10 iterations."
