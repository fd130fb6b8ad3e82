"""Instructions become goals, goals become skill calls."""
