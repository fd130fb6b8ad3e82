"""What other people do in the home during a day, and what the robot's camera sees of it."""

from __future__ import annotations

from benchmarks.life import day_form as form
from benchmarks.life import home, sightings
from benchmarks.life.robot_life import RobotLife
from benchmarks.life.switches import SCENE
from memory_node.domain.states import ObjectState
from memory_node.sim.thing import Thing


class HomeEvents:
    """Changes the home of one life. What is seen, memory is told at once; of the rest it is told nothing.

    Raises (every method):
        NoRoomError: there is no room where something is put, or what is meant is not there at that moment.
    """

    def __init__(self, life: RobotLife) -> None:
        self._life = life

    def _things(self, thing_id: str) -> list[Thing]:
        """Return the thing of an id, the pieces of a cut one, or the first of a class."""
        world = self._life.world
        found = home.pieces_of(world, thing_id) or world.of_class(thing_id)[:1]
        if not found:
            raise home.NoRoomError(f"there is no {thing_id} at that moment")
        return found

    def change(self, event: form.Move | form.ChangeState | form.Add | form.Remove) -> None:
        """Do what an event says."""
        match event:
            case form.Move():
                self._move(event)
            case form.ChangeState():
                self._change_states(event)
            case form.Add():
                self._add(event)
            case form.Remove():
                self._remove(event)

    def _move(self, event: form.Move) -> None:
        for thing_id, place in event.move.items():
            for thing in self._things(thing_id):
                known = sightings.remembered_as(self._life.memory, thing) if event.seen else ""
                home.put(self._life.world, thing, place)
                if event.seen:
                    self._see_placed(thing, known)

    def _see_placed(self, thing: Thing, known: str) -> None:
        life = self._life
        if life.without == SCENE:
            return
        for support in life.world.supports(thing):  # who sees a thing in a cabinet sees the cabinet
            if not sightings.remembered_as(life.memory, support):
                sightings.take_notice(life.memory, life.robot, support, life.now_ns())
        known = known or sightings.take_notice(life.memory, life.robot, thing, life.now_ns())
        if known:
            life.remember([sightings.placed(life.world, thing, known, life.now_ns())])

    def _change_states(self, event: form.ChangeState) -> None:
        for thing_id, states in event.state.items():
            for thing in self._things(thing_id):
                known = sightings.remembered_as(self._life.memory, thing) if event.seen else ""
                home.change_states(self._life.world, thing, states)
                if event.seen and self._life.without != SCENE:
                    self._see_changed(thing, known, states)

    def _see_changed(self, thing: Thing, known: str, states: tuple[ObjectState, ...]) -> None:
        life = self._life
        if thing.id not in life.world:
            self._see_cut(thing, known)
            return
        known = known or sightings.take_notice(life.memory, life.robot, thing, life.now_ns())
        true = tuple(one for one in states if one in thing.states)
        if known and true:
            life.remember([sightings.changed(thing, known, true, life.now_ns())])

    def _see_cut(self, whole: Thing, known: str) -> None:
        life = self._life
        if known:
            life.remember([sightings.gone(whole, known, life.now_ns())])
        for piece in home.pieces_of(life.world, whole.id):
            found = sightings.take_notice(life.memory, life.robot, piece, life.now_ns())
            true = tuple(sorted(piece.states))
            if found:
                life.remember([sightings.changed(piece, found, true, life.now_ns())])

    def _add(self, event: form.Add) -> None:
        world = self._life.world
        for thing_id, newcomer in event.add.items():
            if newcomer.class_name == home.USER_CLASS:
                thing = home.add_person(world, thing_id, newcomer.at)
            else:
                thing = home.new_thing(world, thing_id, newcomer.class_name)
                world.add(thing)
                home.put(world, thing, newcomer.at)
            if event.seen:
                self._see_placed(thing, "")

    def _remove(self, event: form.Remove) -> None:
        life = self._life
        for thing_id in event.remove:
            for thing in self._things(thing_id):
                known = sightings.remembered_as(self._life.memory, thing) if event.seen else ""
                home.take_away(life.world, thing)
                if known:
                    life.remember([sightings.gone(thing, known, life.now_ns())])

    def put_back(self) -> None:
        """Put what the robot holds where it was taken from; memory sees it."""
        held = self._life.world.held
        if held is not None:
            known = sightings.remembered_as(self._life.memory, held)
            self._life.put_back()
            self._see_placed(held, known)
