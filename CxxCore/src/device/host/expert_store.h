// ExpertStore: memory of a fixed size for experts that are read from files when a step needs them.
// State: slots, which are divided once among matrices whose experts have equal sizes; who is in which slot; reads under
// way. Reads go into the slots, not through a mapping: the resident bytes of a mapping are the system's choice, a file
// that shrinks would kill the process, and an error of the disk would be a signal instead of a Status.
// Thread rule: one thread (the device's) calls; the store's own threads read.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "device/device.h"

namespace pagoda::device::host {

struct ExpertMatrix {
  std::string name;  // of a tensor, for errors
  int64_t num_experts = 0;
  size_t slot_bytes = 0;  // of an expert
  // Reads an expert into its slot and returns a weight that refers to it; on any of the store's threads.
  std::function<Result<std::unique_ptr<Weight>>(int64_t expert, std::span<std::byte> slot)> read;
};

class ExpertStore {
 public:
  // An expert in memory, until the next call of next() or start().
  struct Resident {
    int32_t expert;
    const Weight* weight;
  };

  explicit ExpertStore(int num_readers) noexcept : num_readers_(num_readers) {}
  ~ExpertStore();
  ExpertStore(const ExpertStore&) = delete;

  int add(ExpertMatrix matrix);  // its index; before allocate()
  // Allocates the slots and starts the threads. Every size of expert gets memory in proportion to all its experts, and
  // at least one slot; fails with out_of_memory, naming the minimum, if `size_bytes` is less than that.
  Status allocate(int64_t size_bytes);
  int64_t min_bytes() const;

  // Begins to read experts that a step will use soon, as far as that evicts none of another such call.
  void prefetch(int matrix, std::span<const int32_t> experts) noexcept;
  // Experts that the next product with the matrix may use: they are read when nothing else is to be read, by at most
  // half of the threads, and not in place of hinted ones.
  void guess(int matrix, std::span<const int32_t> experts) noexcept;
  // Begins a product with these experts, each listed once.
  void start(int matrix, std::span<const int32_t> experts) noexcept;
  // The experts of the product that are in memory by now, at least one, without those returned before; none: the
  // product is complete. After an error the product is over.
  Result<std::span<const Resident>> next() noexcept;

  ExpertStats stats() const;

 private:
  enum class Place : uint8_t { file, reading, memory };
  static constexpr double kNever = -std::numeric_limits<double>::infinity();
  struct Expert {
    double heat = kNever;  // see touch()
    int32_t slot = -1;
    Place place = Place::file;
    bool is_needed = false;   // by the product, and not returned by next() yet
    bool is_hinted = false;   // by prefetch(), and the product has not begun
    bool is_guessed = false;  // by guess(), and the product has not begun
  };
  enum class Reason : uint8_t { product, hint, guess };  // of a read
  struct Matrix {
    ExpertMatrix source;
    std::vector<Expert> experts;
    size_t pool = 0;
    int64_t num_products = 0;
  };
  struct Slot {
    std::byte* data = nullptr;
    int32_t matrix = -1, expert = -1;  // -1: empty
    double heat = kNever;              // of the expert
    std::unique_ptr<Weight> weight{};
  };
  struct Pool {  // slots of one size
    size_t slot_bytes = 0;
    int64_t num_experts = 0;  // of all its matrices
    std::vector<Slot> slots{};
  };
  struct Read {
    int32_t matrix, expert;
  };

  Expert& at(const Slot& slot) noexcept { return matrices_[slot.matrix].experts[slot.expert]; }
  void touch(Matrix& matrix, int32_t expert) noexcept;
  double rank(const Slot& slot) const noexcept;
  Slot* find_slot(const Read& read, Reason reason) noexcept;
  bool choose(Read& read, Slot*& slot, Reason& reason) noexcept;
  bool choose_guess(Read& read, Slot*& slot) noexcept;
  void work();
  void read_into(std::unique_lock<std::mutex>& lock, const Read& read, Slot& slot) noexcept;
  void forget_guesses(Matrix& matrix) noexcept;
  void release_wave() noexcept;
  void end_product() noexcept;
  void forget_hints() noexcept;

  const int num_readers_;
  std::vector<Matrix> matrices_;
  std::vector<Pool> pools_;
  std::unique_ptr<Buffer> memory_;
  std::vector<std::thread> readers_;

  mutable std::mutex mutex_;  // guards everything below, and the contents of matrices_ and pools_ after allocate()
  std::condition_variable has_work_, has_read_;
  // Not begun yet, from the index on; capacity for the largest matrix, those of hints and guesses twice.
  std::vector<Read> reads_, hints_, guesses_;
  size_t next_read_ = 0, next_hint_ = 0, next_guess_ = 0;
  int matrix_ = -1;             // of the product
  std::vector<int32_t> left_;   // experts of the product that next() has not returned
  std::vector<Resident> wave_;  // those it returned last
  Status failed_;               // of a read of the product
  int num_reading_ = 0;         // reads in flight
  int num_guessing_ = 0;        // of guesses
  ExpertStats stats_;
  bool is_closing_ = false;
};

}  // namespace pagoda::device::host
