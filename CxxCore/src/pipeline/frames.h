// Frames of the pipeline: their kinds, and numbers and arrays in them. Ranks run the same version on machines with the
// same byte order, which their first frames compare.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "pipeline/channel.h"

namespace pagoda::pipeline {

enum class Kind : uint32_t {
  hello = 1,  // both ways: identifies the sender
  assign,     // to a stage: its layers and sizes
  ready,      // from a stage: its layers are loaded
  failed,     // from a stage: why it cannot continue
  plan,       // to a stage: a step
  rows,       // to a stage: the input rows of the oldest step that has none yet; from a stage: its output
  ping,       // both ways, if nothing else was sent for a while
};

class FrameWriter {
 public:
  explicit FrameWriter(Kind kind) { put(kind); }

  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    append(&value, sizeof value);
  }
  template <class T>
  void put_array(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(static_cast<uint64_t>(values.size()));
    append(values.data(), values.size_bytes());
  }
  void put_text(const std::string& text) { put_array(std::span<const char>(text)); }
  Bytes take() { return std::move(bytes_); }

 private:
  void append(const void* data, size_t size) {
    const size_t begin = bytes_.size();
    bytes_.resize(begin + size);
    if (size > 0) std::memcpy(bytes_.data() + begin, data, size);
  }
  Bytes bytes_;
};

// After a read past the end all values are zero and is_ok() is false.
class FrameReader {
 public:
  explicit FrameReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  T get() {
    T value{};
    if (const std::span<const std::byte> bytes = take(sizeof value); !bytes.empty())
      std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  template <class T>
  void get_array(std::vector<T>& values) {
    const uint64_t count = get<uint64_t>();
    if (count > rest_.size() / sizeof(T)) is_ok_ = false;
    values.resize(is_ok_ ? static_cast<size_t>(count) : 0);
    const std::span<const std::byte> bytes = take(values.size() * sizeof(T));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  }
  std::string get_text() {
    std::vector<char> text;
    get_array(text);
    return {text.begin(), text.end()};
  }
  bool is_ok() const noexcept { return is_ok_; }
  bool is_done() const noexcept { return is_ok_ && rest_.empty(); }

 private:
  std::span<const std::byte> take(size_t size) {
    if (!is_ok_ || size > rest_.size()) {
      is_ok_ = false;
      return {};
    }
    const std::span<const std::byte> taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  std::span<const std::byte> rest_;
  bool is_ok_ = true;
};

}  // namespace pagoda::pipeline
