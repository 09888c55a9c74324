#include "serve_queue.h"

namespace vramgauge::tools {
namespace {

/// The HTTP library matches headers with std::regex, which goes deep on long ones.
constexpr std::size_t kStackBytes = std::size_t{64} << 20;

}  // namespace

BoundedQueue::BoundedQueue(int num_threads, std::size_t max_waiting) : max_waiting_(max_waiting) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  for (int i = 0; i < num_threads; ++i) {
    pthread_t thread = {};
    if (pthread_create(&thread, &attributes, &BoundedQueue::work, this) == 0)
      threads_.push_back(thread);
  }
  pthread_attr_destroy(&attributes);
}

void* BoundedQueue::work(void* queue) {
  static_cast<BoundedQueue*>(queue)->run();
  return nullptr;
}

void BoundedQueue::run() {
  for (;;) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return is_over_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const std::function<void()> task = std::move(waiting_.front());
    waiting_.pop_front();
    changed_.notify_all();
    lock.unlock();
    task();
  }
}

void BoundedQueue::enqueue(std::function<void()> task) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return is_over_ || waiting_.size() < max_waiting_; });
  waiting_.push_back(std::move(task));
  changed_.notify_all();
}

void BoundedQueue::shutdown() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_over_ = true;
    changed_.notify_all();
  }
  for (const pthread_t thread : threads_)
    pthread_join(thread, nullptr);
}

}  // namespace vramgauge::tools
