"""One world: what is believed of things, and what each skill needs, does and may be done with.

    state = WorldState.of_things(kinds, things).holding("Mug 2")
    unmet(SKILLS["PutObject"], state, call)   # what keeps a call from being made: fact, reason, words, remedy
    after(SKILLS["PutObject"], state, call)   # the state that follows, by the declared effects
    possible(state, skills)                   # the calls that can be made now and would change something

`state.py` holds the state: immutable, made from things, cheap to derive from. `facts.py` holds the one meaning of each
declared fact: whether it is so, what a planner takes it for where nobody knows, how it is said, which skill establishes
it. `skills.py` reads declarations (domain/skill_library.py) by these. Nobody else evaluates a precondition, applies an
effect or works out a possible call: search, plan check, grammars, working memory's rules, the brief state, the robot's
bridge and the simulated robot ask here.
"""
