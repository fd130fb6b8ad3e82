"""Long-term memory: the incremental 3D scene graph."""
