"""ScienceWorld (Wang et al. 2022, arXiv:2203.07540): science lessons as text games, a second text world."""
