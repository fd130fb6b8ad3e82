"""Skill plug-ins that are shipped: for many arms good enough, for others examples to start from."""
