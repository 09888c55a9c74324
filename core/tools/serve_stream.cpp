#include "serve_stream.h"

#include <algorithm>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>

namespace vramgauge::tools {
namespace {

constexpr std::chrono::milliseconds kDrainTime{500};
constexpr std::size_t kPieceBytes = 8192;
constexpr std::size_t kDrainBytes = std::size_t{4} << 20;

}  // namespace

LimitedStream::LimitedStream(socket_t socket, std::size_t max_read_bytes, std::chrono::seconds time)
    : socket_(socket),
      left_bytes_(max_read_bytes),
      time_(time),
      end_(std::chrono::steady_clock::now() + time) {}

bool LimitedStream::wait_for(short event) const {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      end_ - std::chrono::steady_clock::now());
  if (left.count() <= 0) return false;
  pollfd waiting = {socket_, event, 0};
  return poll(&waiting, 1, static_cast<int>(left.count())) > 0;
}

bool LimitedStream::is_readable() const {
  return next_ < held_.size() || (left_bytes_ > 0 && wait_for(POLLIN));
}
bool LimitedStream::is_writable() const { return wait_for(POLLOUT); }

ssize_t LimitedStream::read(char* out, size_t size) {
  if (next_ == held_.size()) {
    const ssize_t got = fill();
    if (got <= 0) return got;
  }
  const std::size_t given = std::min(size, held_.size() - next_);
  std::memcpy(out, held_.data() + next_, given);
  next_ += given;
  return static_cast<ssize_t>(given);
}

// The library reads lines byte by byte.
ssize_t LimitedStream::fill() {
  held_.clear();
  next_ = 0;
  if (!is_readable()) return -1;
  held_.resize(std::min(kPieceBytes, left_bytes_));
  const ssize_t got = recv(socket_, held_.data(), held_.size(), 0);
  held_.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  left_bytes_ -= held_.size();
  return got;
}

ssize_t LimitedStream::write(const char* data, size_t size) {
  // How long the answer took to find is not the asker's fault.
  if (!has_answered_) end_ = std::chrono::steady_clock::now() + time_;
  has_answered_ = true;
  if (!is_writable()) return -1;
  return send(socket_, data, size, MSG_NOSIGNAL);
}

// Nothing that is served depends on who asks.
void LimitedStream::get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const {}
void LimitedStream::get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const {}

void LimitedStream::finish() {
  shutdown(socket_, SHUT_WR);
  end_ = std::min(end_, std::chrono::steady_clock::now() + kDrainTime);
  left_bytes_ = kDrainBytes;
  char rest[4096];
  while (read(rest, sizeof rest) > 0) {
  }
}

}  // namespace vramgauge::tools
