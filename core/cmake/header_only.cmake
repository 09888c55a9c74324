# Header-only libraries of the core, as one interface target. Emscripten hides the host's include
# folder, and adding that folder breaks it: so only the folders of these libraries are linked into
# an include folder of our own.
find_path(VRAMGAUGE_NLOHMANN_DIR nlohmann/json.hpp PATHS /usr/include NO_CMAKE_FIND_ROOT_PATH REQUIRED)
find_path(VRAMGAUGE_EXPECTED_DIR tl/expected.hpp PATHS /usr/include NO_CMAKE_FIND_ROOT_PATH REQUIRED)

set(header_only_dir ${CMAKE_BINARY_DIR}/header_only)
file(MAKE_DIRECTORY ${header_only_dir})
file(CREATE_LINK ${VRAMGAUGE_NLOHMANN_DIR}/nlohmann ${header_only_dir}/nlohmann SYMBOLIC)
file(CREATE_LINK ${VRAMGAUGE_EXPECTED_DIR}/tl ${header_only_dir}/tl SYMBOLIC)

add_library(vramgauge_header_only INTERFACE)
target_include_directories(vramgauge_header_only SYSTEM INTERFACE ${header_only_dir})
