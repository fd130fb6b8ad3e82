"""Builds the pip package: memory_node, with the share files that colcon installs to share/."""

import shutil
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
SHARE_FOLDERS = ("config", "msg", "srv", "action", "launch", "rviz")


class BuildWithShare(build_py):
    """Copies the share folders into memory_node/_share, where `resource_path` looks for them."""

    def run(self) -> None:
        """Build the modules, then copy the share folders."""
        super().run()
        if self.editable_mode:  # the checkout itself is the share folder
            return
        for folder in SHARE_FOLDERS:
            target = Path(self.build_lib) / "memory_node" / "_share" / folder
            shutil.copytree(ROOT / folder, target, dirs_exist_ok=True)


setup(
    packages=find_packages(include=["memory_node*"]),
    package_data={"memory_node": ["**/*.yaml", "**/*.mako", "**/*.ini", "inspector/page/*", "py.typed"]},
    cmdclass={"build_py": BuildWithShare},
)
