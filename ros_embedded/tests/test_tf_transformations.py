"""Rotations in the conventions of tf_transformations: quaternions [x, y, z, w], axes named sxyz, rzyx, ..."""

import math

import numpy as np
import pytest

from ros_embedded import tf_transformations as tf

ANGLES = (0.3, -0.4, 1.2)


def test_yaw_turns_about_z():
    assert np.allclose(tf.quaternion_from_euler(0.0, 0.0, math.pi / 2), [0, 0, 0.5**0.5, 0.5**0.5])
    assert np.allclose(tf.quaternion_matrix([0, 0, 0.5**0.5, 0.5**0.5])[:3, 0], [0, 1, 0])


@pytest.mark.parametrize("axes", ["sxyz", "rxyz", "rzyx", "szxz"])
def test_angles_survive_quaternion_and_matrix(axes):
    assert tf.quaternion_from_euler(*ANGLES, axes) == pytest.approx(
        tf.quaternion_from_matrix(tf.euler_matrix(*ANGLES, axes))
    )
    found = tf.euler_from_quaternion(tf.quaternion_from_euler(*ANGLES, axes), axes)
    assert np.allclose(tf.euler_matrix(*found, axes), tf.euler_matrix(*ANGLES, axes))
    assert np.allclose(
        tf.euler_matrix(*tf.euler_from_matrix(tf.euler_matrix(*ANGLES, axes), axes), axes)[3], [0, 0, 0, 1]
    )


def test_static_axes_apply_in_order_and_rotating_ones_in_reverse():
    roll, pitch, yaw = (tf.rotation_matrix(angle, axis) for angle, axis in zip(ANGLES, np.eye(3)))
    assert np.allclose(tf.euler_matrix(*ANGLES, "sxyz"), tf.concatenate_matrices(yaw, pitch, roll))
    assert np.allclose(tf.euler_matrix(*ANGLES, "rxyz"), tf.concatenate_matrices(roll, pitch, yaw))


def test_product_turns_by_the_second_first_and_inverse_undoes():
    first, second = tf.quaternion_about_axis(0.5, [1, 0, 0]), tf.quaternion_about_axis(1.0, [0, 2, 0])
    product = tf.quaternion_multiply(second, first)
    assert np.allclose(tf.quaternion_matrix(product), tf.quaternion_matrix(second) @ tf.quaternion_matrix(first))
    assert np.allclose(tf.quaternion_multiply(product, tf.quaternion_inverse(product)), [0, 0, 0, 1])
    assert tf.quaternion_multiply([1, -2, 3, 4], [-5, 6, 7, 8]).tolist() == [-44, -14, 48, 28]  # by hand
    assert np.allclose(tf.quaternion_slerp([0, 0, 0, 1], first, 0.5), tf.quaternion_about_axis(0.25, [1, 0, 0]))


def test_places_are_moved_by_matrices():
    matrix = tf.concatenate_matrices(tf.translation_matrix([1, 2, 3]), tf.rotation_matrix(math.pi / 2, [0, 0, 1]))
    assert np.allclose(matrix @ [1, 0, 0, 1], [1, 3, 3, 1])
    assert np.allclose(tf.concatenate_matrices(matrix, tf.inverse_matrix(matrix)), tf.identity_matrix())
    about = tf.rotation_matrix(math.pi, [0, 0, 2], [1, 1, 5])
    assert np.allclose(about @ [0, 0, 0, 1], [2, 2, 0, 1])
    assert np.allclose(tf.unit_vector([[3, 4], [0, 2]], axis=1), [[0.6, 0.8], [0, 1]])
    assert tf.translation_from_matrix(matrix).tolist() == [1, 2, 3]
    assert tf.vector_norm(tf.random_quaternion()) == pytest.approx(1.0)
