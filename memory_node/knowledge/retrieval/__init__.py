"""How knowledge is found: two channels, links, a value function, several hops."""
