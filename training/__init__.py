"""Training of every weight that ships, one subcommand of `memory-node train` each; from a checkout only."""

# name of the subcommand -> (module, what it trains)
COMMANDS = {
    "compiler": ("training.compiler.train", "the learned compiler of memory"),
    "compiler-pairs": ("training.compiler.pairs", "write a teacher's steps for the learned compiler of memory"),
    "executor": ("training.executor.train", "the policy that chooses a text game's command"),
    "executor-games": ("training.executor.games", "play text games with mistakes, for their executor to learn from"),
    "grpo": ("training.grpo.train", "compiler and latent tokens, by an executor's success in text games"),
    "instructions": ("training.instructions.train", "the reader of single goals"),
    "optimizer": ("training.optimizer.train", "the policy that decides what an attempt leaves in memory"),
    "softmem": ("training.softmem.train", "latent tokens of the compiler, through a frozen executor"),
    "vocabulary": (
        "training.instructions.shrink_vocabulary",
        "drop word pieces, pack weights in four bits",
    ),
}
