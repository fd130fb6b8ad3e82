"""LoRA adapters of language models: what they learn from, the loop, their files and cards. Shared by all trainings."""
