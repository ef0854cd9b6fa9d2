// checksum: detects accidental corruption at memory speed; not cryptographic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace pagoda {

// Fletcher checksum in 16 lanes of 32 bits, which compilers vectorise: `sum` depends on every word, `weighted` also on
// the order of the words. 0.8 GB from the page cache takes 0.2 s on one busy core, including the mapping; a
// multiplicative checksum takes three times as long.
inline uint64_t checksum(std::span<const std::byte> bytes) noexcept {
  constexpr size_t kLanes = 16, kBlock = kLanes * sizeof(uint32_t);
  uint32_t sum[kLanes]{}, weighted[kLanes]{};
  const auto add = [&](const std::byte* block) {
    uint32_t words[kLanes];
    std::memcpy(words, block, kBlock);
    for (size_t i = 0; i < kLanes; ++i) weighted[i] += sum[i] += words[i];
  };
  uint64_t value = bytes.size();
  for (; bytes.size() >= kBlock; bytes = bytes.subspan(kBlock)) add(bytes.data());
  std::byte rest[kBlock]{};
  if (!bytes.empty()) std::memcpy(rest, bytes.data(), bytes.size());
  add(rest);
  for (size_t i = 0; i < kLanes; ++i) {
    value = (value ^ (uint64_t{sum[i]} << 32 | weighted[i])) * 0x9e3779b97f4a7c15;
    value ^= value >> 32;
  }
  return value;
}

}  // namespace pagoda
