"""`memory-node bench life`: days in a simulated home on which each memory must count.

A file of scenarios (day_file) is checked against its home (home, day_check); a robot with a memory lives through each
(robot_life, day_run); the judged steps are compared with the home as it is then (judge); rows say what each memory is
worth (life_rows).
"""
