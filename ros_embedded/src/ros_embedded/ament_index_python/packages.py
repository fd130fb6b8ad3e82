"""Share folders of packages."""

from __future__ import annotations

from pathlib import Path

from ros_embedded.interfaces.lookup import share_folders


class PackageNotFoundError(KeyError):
    """No package of that name is installed."""


def get_package_prefix(package_name: str) -> str:
    """The folder whose share/ and lib/ hold the package. Raises PackageNotFoundError."""
    return str(get_package_share_path(package_name).parent.parent)


def get_package_share_path(package_name: str, print_warning: bool = True) -> Path:
    """The share folder of a package. It always exists, so nothing is warned of. Raises PackageNotFoundError."""
    folders = share_folders(package_name)
    if not folders:
        raise PackageNotFoundError(f"package '{package_name}' not found")
    return folders[0]


def get_package_share_directory(package_name: str, print_warning: bool = True) -> str:
    """As get_package_share_path, as text."""
    return str(get_package_share_path(package_name))
