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

# What has to compute on a device needs the toolkit; nothing else does.
if(VRAMGAUGE_CUDA)
  add_subdirectory(cuda)
  target_compile_definitions(vramgauge PRIVATE VRAMGAUGE_CUDA)
  target_link_libraries(vramgauge PRIVATE vramgauge_cuda)
endif()
