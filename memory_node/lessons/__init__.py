"""What only having tried can teach: which calls fail here although nothing that is declared is missing."""
