"""From pixels to observations: colour, depth and masks become boxes in the map frame."""
