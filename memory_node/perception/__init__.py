"""RGB-D and masks become object observations in the map frame."""
