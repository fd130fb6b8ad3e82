"""Short-term memory: the object cache and its replacement policies."""
