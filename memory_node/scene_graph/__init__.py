"""The long-term memory: a 3D scene graph that is built frame by frame and kept true."""
