"""What comes in over topics, put in the order of its stamps: the same recording gives the same memory at any rate."""
