"""Sensor messages as numpy arrays: the API of Jazzy's sensor_msgs_py."""
