// Threads that answer, and connections that wait for them.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include <httplib.h>
#include <pthread.h>

namespace vramgauge::tools {

/// A queue that does not grow without end: when it is full, nobody is accepted.
class BoundedQueue : public httplib::TaskQueue {
 public:
  BoundedQueue(int num_threads, std::size_t max_waiting);
  BoundedQueue(const BoundedQueue&) = delete;
  BoundedQueue& operator=(const BoundedQueue&) = delete;
  ~BoundedQueue() override = default;

  void enqueue(std::function<void()> task) override;
  void shutdown() override;

 private:
  static void* work(void* queue);
  void run();

  std::size_t max_waiting_;
  std::vector<pthread_t> threads_;
  std::deque<std::function<void()>> waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
};

}  // namespace vramgauge::tools
