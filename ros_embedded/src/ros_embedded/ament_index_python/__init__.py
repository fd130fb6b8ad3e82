"""Where packages are installed: the everyday part of Jazzy's ament_index_python."""

from ros_embedded.ament_index_python.packages import (
    PackageNotFoundError,
    get_package_prefix,
    get_package_share_directory,
    get_package_share_path,
)

__all__ = ["PackageNotFoundError", "get_package_prefix", "get_package_share_directory", "get_package_share_path"]
