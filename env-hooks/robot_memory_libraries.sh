# Lets Python find what scripts/install_libraries installed. At the end of the path: ROS and the workspace come first.
for _robot_memory_path in \
  "${ROBOT_MEMORY_LIBRARIES:-${XDG_DATA_HOME:-$HOME/.local/share}/robot_memory/libraries}"/lib/python3*/site-packages
do
  case ":$PYTHONPATH:" in
    *":$_robot_memory_path:"*) ;;
    *) [ -d "$_robot_memory_path" ] && export PYTHONPATH="${PYTHONPATH:+$PYTHONPATH:}$_robot_memory_path" ;;
  esac
done
unset _robot_memory_path
