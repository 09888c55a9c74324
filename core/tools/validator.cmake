# The validator: what asks this machine's driver, which is opened at run time.
target_sources(vramgauge PRIVATE
  driver_cuda.cpp
  driver_error.cpp
  driver_library.cpp
  driver_nvml.cpp
  probe.cpp
  probe_command.cpp
  probe_report.cpp
  validate_options.cpp
)
target_link_libraries(vramgauge PRIVATE ${CMAKE_DL_LIBS})
