// Stream: one op's sequence processed in chunks, and the check that chunking and batching never change a bit.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "device/conformance.h"
#include "device/rig.h"
#include "support/test.h"

namespace pagoda::test {

using Bytes = std::vector<std::byte>;

// A whole sequence of one op, processed in chunks; `neighbour` rows of another sequence precede it in every step.
class Stream {
 public:
  virtual ~Stream() = default;
  // Outputs of rows [begin, begin + count) of the sequence.
  virtual Bytes step(int64_t begin, int64_t count, int64_t neighbour) = 0;
  virtual Bytes state() = 0;  // the state the op keeps for the sequence

  int64_t num_wrong = 0;  // last rows of the next step that have noise for inputs
};

constexpr int64_t kTokens = 75;

// The batch of one step. The neighbour (sequence 0) always starts from scratch; the sequence under test comes last, so
// its slot is the number of sequences.
inline Batch batch_of(int64_t begin, int64_t count, int64_t neighbour) {
  return neighbour > 0 ? Batch{{0, begin}, {neighbour, count}} : Batch{{begin}, {count}};
}

inline device::Tensor rows_with_neighbour(Rig& rig, Random& random, const std::vector<float>& all, int64_t width,
                                          int64_t begin, int64_t count, int64_t neighbour, int64_t num_wrong = 0) {
  std::vector<float> values = random.normal(neighbour * width);
  values.insert(values.end(), all.begin() + begin * width, all.begin() + (begin + count - num_wrong) * width);
  const std::vector<float> wrong = random.normal(num_wrong * width);
  values.insert(values.end(), wrong.begin(), wrong.end());
  return rig.floats(values, {neighbour + count, width});
}

inline Bytes last_rows(const Bytes& all, int64_t rows, int64_t total) {
  return Bytes(all.end() - static_cast<std::ptrdiff_t>(all.size() / total * rows), all.end());
}

inline device::SequenceArgs sequences_at_slot_2(Rig& rig, const Batch& batch, int64_t block_size, int64_t max_blocks) {
  device::SequenceArgs s = make_sequences(rig, batch, block_size, max_blocks);
  s.state_slots = batch.num_sequences() == 2 ? rig.ints({1, 2}) : rig.ints({2});
  return s;
}

inline Bytes slot_2(Rig& rig, const device::Tensor& pool) {
  const Bytes all = rig.bytes(pool);
  const size_t size = all.size() / 3;
  return Bytes(all.begin() + 2 * size, all.end());
}

enum class Chunks { whole, ones, random };

// Outputs and final state of a stream with the given chunking.
inline Bytes run(Stream& stream, Chunks chunks, int64_t neighbour, uint64_t start) {
  Random random(start);
  Bytes all;
  for (int64_t begin = 0, count; begin < kTokens; begin += count) {
    count = chunks == Chunks::whole ? kTokens
                                    : (chunks == Chunks::ones ? 1 : std::min(1 + random.below(23), kTokens - begin));
    const Bytes part = stream.step(begin, count, neighbour);
    all.insert(all.end(), part.begin(), part.end());
  }
  const Bytes state = stream.state();
  all.insert(all.end(), state.begin(), state.end());
  return all;
}

// Outputs of a stream whose steps have one accepted row and up to kMaxDrafts drafts, of which the last, wrong ones are
// discarded by not counting them. No draft that may be wrong completes a block of the recurrent state.
inline Bytes run_taking_back(Stream& stream, int64_t neighbour, uint64_t start) {
  Random random(start);
  Bytes all;
  for (int64_t begin = 0, kept; begin < kTokens; begin += kept) {
    const int64_t row = begin % device::kGdnBlock, max_drafts = row == 15 ? device::kMaxDrafts : 14 - row;
    const int64_t drafts = std::min({random.below(device::kMaxDrafts + 1), max_drafts, kTokens - begin - 1});
    stream.num_wrong = random.below(drafts + 1);
    kept = 1 + drafts - stream.num_wrong;
    const Bytes part = stream.step(begin, 1 + drafts, neighbour);
    all.insert(all.end(), part.begin(),
               part.begin() + static_cast<std::ptrdiff_t>(part.size() / static_cast<size_t>(1 + drafts)) * kept);
  }
  return all;
}

template <class Make>
void check_taking_back(const std::string& what, Make make, Devices devices = Devices::all) {
  const uint64_t start = seed(7);
  for (const std::string& name : selected_devices()) {
    if (devices == Devices::without_kernels && runs_kernels(name)) continue;
    for (int64_t neighbour : {0, 13}) {
      auto whole = make(name, 2), stream = make(name, 2);
      const Bytes expected = whole->step(0, kTokens, 0);
      if (run_taking_back(*stream, neighbour, start) != expected)
        fail(__FILE__, __LINE__, name + " " + what + ": rows that were taken back left something");
    }
  }
}

// make(device, threads) creates a fresh stream; every chunking must give the same bits on one device.
template <class Make>
void check_stream(const std::string& what, Make make, Devices devices = Devices::all) {
  const uint64_t start = seed(5);
  for (const std::string& name : selected_devices()) {
    if (devices == Devices::without_kernels && runs_kernels(name)) continue;
    auto whole_stream = make(name, 2);
    const Bytes whole = run(*whole_stream, Chunks::whole, 0, start);
    const struct {
      const char* text;
      Chunks chunks;
      int64_t neighbour;
      int threads;
    } ways[] = {{"one token at a time", Chunks::ones, 0, 1},
                {"random chunks", Chunks::random, 0, 3},
                {"random chunks beside others", Chunks::random, 13, 2},
                {"whole beside others on one thread", Chunks::whole, 21, 1},
                {"whole on four threads", Chunks::whole, 0, 4}};
    for (const auto& way : ways) {
      auto stream = make(name, way.threads);
      if (run(*stream, way.chunks, way.neighbour, start + way.threads) != whole)
        fail(__FILE__, __LINE__, name + " " + what + ": " + way.text + " differs from whole");
    }
  }
}

}  // namespace pagoda::test
