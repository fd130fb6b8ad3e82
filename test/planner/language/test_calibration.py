"""What readers say of themselves is made true by curves."""

import json

import pytest

from memory_node.planner.language.calibration import Calibration


def test_confidence_lies_on_straight_lines_between_the_points_of_a_curve() -> None:
    curve = Calibration({"sequence": [(0.2, 0.1), (0.6, 0.5), (1.0, 0.9)]})
    assert curve.of("sequence", 0.4) == pytest.approx(0.3)
    assert curve.of("sequence", 0.6) == pytest.approx(0.5)


def test_curve_ends_level() -> None:
    curve = Calibration({"model": [(0.2, 0.1), (0.8, 0.7)]})
    assert (curve.of("model", 0.0), curve.of("model", 1.0)) == pytest.approx((0.1, 0.7))


def test_source_without_a_curve_is_taken_at_its_word() -> None:
    assert Calibration().of("sequence", 0.37) == 0.37


def test_curves_are_read_from_the_folder_of_the_weights(tmp_path) -> None:
    assert Calibration.load(tmp_path).curves == {}
    (tmp_path / "calibration.json").write_text(json.dumps({"model": [[0.0, 0.0], [1.0, 0.8]]}))
    assert Calibration.load(tmp_path).of("model", 0.5) == pytest.approx(0.4)


@pytest.mark.parametrize("source", ["model", "sequence"])
def test_shipped_curves_rise_within_zero_and_one(source: str) -> None:
    shipped = Calibration.load()
    sure = [shipped.of(source, step / 20) for step in range(21)]
    assert sure == sorted(sure)
    assert 0.0 <= sure[0] <= sure[-1] <= 1.0
