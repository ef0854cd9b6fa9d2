// Outbox: events waiting to be sent to the owners of requests. If a device works in parallel with the host, the events
// of a step wait here until the next step has been launched: sending them takes as long as planning, and the device
// would be idle. Thread rule: the engine's thread.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "pagoda/event.h"

namespace pagoda::engine {

class Outbox {
 public:
  explicit Outbox(size_t capacity) : entries_(capacity) {}  // 0: every event is sent immediately

  // Takes the contents of `event` and leaves an empty one there, with the memory of an already sent event.
  void add(EventCallback callback, void* context, Event& event) noexcept {
    if (num_entries_ == entries_.size()) send_all();
    if (entries_.empty()) return callback(context, &event);
    Entry& entry = entries_[num_entries_++];
    entry.callback = callback;
    entry.context = context;
    std::swap(entry.event, event);
  }

  // Sends all events in the order in which they were added.
  void send_all() noexcept {
    for (size_t i = 0; i < num_entries_; ++i) {
      entries_[i].callback(entries_[i].context, &entries_[i].event);
      clear(entries_[i].event);
    }
    num_entries_ = 0;
  }

 private:
  struct Entry {
    EventCallback callback = nullptr;
    void* context = nullptr;
    Event event;
  };
  static void clear(Event& event) noexcept {
    Event empty;
    std::swap(empty.text, event.text);
    std::swap(empty.top_logprobs, event.top_logprobs);
    empty.text.clear();
    empty.top_logprobs.clear();
    event = std::move(empty);
  }

  std::vector<Entry> entries_;
  size_t num_entries_ = 0;
};

}  // namespace pagoda::engine
