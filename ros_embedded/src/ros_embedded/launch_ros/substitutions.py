"""Substitutions that find packages."""

from __future__ import annotations

from ros_embedded.launch.launch_description import LaunchContext
from ros_embedded.launch.substitutions import SomeSubstitutionsType, Substitution, perform_substitutions


class FindPackageShare(Substitution):
    """The share folder of a package."""

    def __init__(self, package: SomeSubstitutionsType) -> None:
        self.package = package

    def perform(self, context: LaunchContext) -> str:
        """The folder. Raises LookupError."""
        return str(context.share_folder(perform_substitutions(context, self.package)))
