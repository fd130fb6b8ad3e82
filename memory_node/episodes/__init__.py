"""What the robot itself did, for ever: with which thing, when, from where to where."""
