"""Measured comparisons, one subcommand of `memory-node bench` each; from a checkout only."""

# name of the subcommand -> (module, what it measures)
COMMANDS = {
    "alfworld": ("benchmarks.alfworld.command", "instructions carried out in ALFWorld's text games"),
    "answers": ("benchmarks.answers", "what both object memories answer to questions about a home"),
    "body": ("benchmarks.body", "skills and instructions of a robot with physics"),
    "cache": ("benchmarks.cache", "hit ratio and throughput of the short-term memory's replacement policies"),
    "compiler": ("benchmarks.compiler", "what compiling memory at each step is worth, with its controls"),
    "life": ("benchmarks.life.command", "days in a home on which each memory must count"),
    "hostile": ("benchmarks.hostile", "hostile messages on every topic, service, action and parameter of the nodes"),
    "inspector": ("benchmarks.inspector", "looking into memory: load while the robot maps, REST, the page"),
    "memento": ("benchmarks.memento.command", "personal things and habits, by what was said on an earlier day"),
    "recall": ("benchmarks.recall", "latency and recall of vector search"),
    "scene": ("benchmarks.scene", "the scene graph on a simulated site"),
    "segment": ("benchmarks.segment", "class-agnostic segmentation of real RGB-D frames"),
    "sequence": ("benchmarks.sequence", "what two builds of one recording agree on"),
    "household": ("benchmarks.household", "instructions carried out in the ALFRED homes"),
    "knowledge": ("benchmarks.knowledge", "what knowledge finds for questions over texts and talks"),
    "instructions": ("benchmarks.instructions", "understanding of people's instructions"),
    "ros": ("benchmarks.ros", "latency and throughput of ROS 2 communication"),
    "soak": ("benchmarks.soak", "hours of instructions, map changes and restarts: what the processes take"),
    "stream": ("benchmarks.stream.command", "what an optimizer of memory is worth over a stream of tasks"),
    "world": ("benchmarks.world.command", "what memory believes of a home against the truth, call by call"),
    "store": ("benchmarks.store", "durability and throughput of the store"),
}
