"""What people and documents say that binds: facts read into subject, relation and object, and what they forbid."""
