# The validator: what asks this machine's driver, which is opened at run time.
find_package(Threads REQUIRED)
target_sources(vramgauge PRIVATE
  allocate.cpp
  allocate_plan.cpp
  calibrate_command.cpp
  calibrate_device.cpp
  calibrate_endpoint.cpp
  calibrate_metrics.cpp
  driver_cuda.cpp
  driver_error.cpp
  driver_library.cpp
  driver_nvml.cpp
  probe.cpp
  probe_command.cpp
  probe_json.cpp
  probe_report.cpp
  serve_command.cpp
  serve_library.cpp
  validate.cpp
  validate_command.cpp
  validate_host.cpp
  validate_options.cpp
)
target_link_libraries(vramgauge PRIVATE ${CMAKE_DL_LIBS} Threads::Threads)

# HTTP is in a library of its own, which only serve and calibrate open.
find_package(PkgConfig REQUIRED)
pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)
add_library(vramgauge_http MODULE serve_http.cpp serve_queue.cpp serve_stream.cpp)
target_link_libraries(vramgauge_http PRIVATE vramgauge_options PkgConfig::HTTPLIB Threads::Threads)
set_target_properties(vramgauge_http PROPERTIES PREFIX "")
add_dependencies(vramgauge vramgauge_http)

# What has to compute on a device needs the toolkit; nothing else does. Where nvcc is there, tests build such a program as
# well, from the objects of the plain one.
if(VRAMGAUGE_CUDA)
  enable_language(CUDA)
  add_subdirectory(cuda)
  set_source_files_properties(calibrate_device.cpp PROPERTIES COMPILE_DEFINITIONS VRAMGAUGE_CUDA)
  target_link_libraries(vramgauge PRIVATE vramgauge_cuda)
elseif(VRAMGAUGE_TESTS AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    add_subdirectory(cuda)
    add_executable(vramgauge_with_toolkit
      $<FILTER:$<TARGET_OBJECTS:vramgauge>,EXCLUDE,/calibrate_device[.]> calibrate_device.cpp)
    target_include_directories(vramgauge_with_toolkit PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_compile_definitions(vramgauge_with_toolkit PRIVATE VRAMGAUGE_CUDA)
    target_link_libraries(vramgauge_with_toolkit PRIVATE
      vramgauge::core vramgauge_options CLI11::CLI11 fmt::fmt ZLIB::ZLIB ${CMAKE_DL_LIBS} Threads::Threads vramgauge_cuda)
  endif()
endif()
