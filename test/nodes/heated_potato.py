"""The calls that heat a potato: what a person shows, live or in a bag."""

from memory_node.domain.skill import SkillCall

HEATED = (
    SkillCall("PickupObject", ("Potato",)),
    SkillCall("OpenObject", ("Microwave",)),
    SkillCall("PutObject", ("Potato", "Microwave")),
    SkillCall("CloseObject", ("Microwave",)),
    SkillCall("ToggleOn", ("Microwave",)),
)
