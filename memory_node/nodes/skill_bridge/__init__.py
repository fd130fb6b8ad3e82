"""The bridge from ExecuteSkill to a real robot: skills in terms of Nav2, MoveIt 2, a gripper and the user's actions."""
