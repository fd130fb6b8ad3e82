"""From an instruction in words to goals: the readers, and which reading stands."""
