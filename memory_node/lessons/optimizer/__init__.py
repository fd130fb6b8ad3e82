"""What an attempt at a task leaves in memory: a bank of entries, and the policies that write it (UMEM)."""
