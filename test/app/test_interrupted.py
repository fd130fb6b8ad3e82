"""A command that is interrupted ends at once, and does what was registered for its end."""

import subprocess
import sys

_INTERRUPTED = """
import atexit, sys
from memory_node import cli

class Large:
    def __del__(self):
        print("taken apart")

class Command:
    def add_arguments(self, parser):
        pass
    def run(self, args):
        self.kept = Large()
        modules_keep.append(self)
        raise KeyboardInterrupt

modules_keep = []
atexit.register(print, "registered")
cli._declared = lambda module, parser: Command()
sys.argv = ["memory-node", "demo"]
print("begins", end="; ")
sys.exit(cli.main())
"""


def test_nothing_is_taken_apart_and_what_was_registered_is_done() -> None:
    run = subprocess.run([sys.executable, "-c", _INTERRUPTED], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (130, "begins; registered\n", "")
