"""What pydantic finds wrong with a value, in one line for each fault."""

from __future__ import annotations

from pydantic import ValidationError


def faults_of(error: ValidationError, whole: str = "") -> list[str]:
    """Return the faults as "KEY.KEY: what is wrong", in pydantic's order. whole: the name of the value itself."""
    faults = error.errors(include_url=False, include_input=False)
    return [f"{'.'.join(map(str, fault['loc'])) or whole}: {fault['msg']}" for fault in faults]
