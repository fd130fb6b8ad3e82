"""ALFWorld's text games (Shridhar et al. 2021, arXiv:2010.03768): the engine as a robot, and what it measures."""
