"""The everyday part of the ros2 command line, with the same commands and output."""
