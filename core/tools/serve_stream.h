// A connection with an end: so many bytes, so much time, and no more.
#pragma once

#include <chrono>
#include <string>

#include <httplib.h>

namespace vramgauge::tools {

/// A socket as the HTTP library reads and writes it. The library bounds neither the length of a
/// line of a header nor the time of a whole request, so the connection does.
class LimitedStream : public httplib::Stream {
 public:
  /// `time` is for the request, and again for the answer.
  LimitedStream(socket_t socket, std::size_t max_read_bytes, std::chrono::seconds time);

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* out, size_t size) override;
  ssize_t write(const char* data, size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

  /// Says that no more comes and reads what is still on its way, so that the answer arrives.
  void finish();

 private:
  /// Reads the next piece; what recv() answers, or -1 at the end of bytes or time.
  ssize_t fill();
  /// Waits for an event of poll(); false when the time is over.
  bool wait_for(short event) const;

  socket_t socket_;
  std::string held_;
  std::size_t next_ = 0;
  std::size_t left_bytes_;
  std::chrono::seconds time_;
  std::chrono::steady_clock::time_point end_;
  bool has_answered_ = false;
};

}  // namespace vramgauge::tools
