// Policy: how many drafts a step takes, from the measured cost of steps and the acceptance of drafts. Pure: no clock,
// no device; answers never depend on it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "speculate/step_costs.h"

namespace pagoda::speculate {

constexpr int32_t kMaxPositions = 15;  // drafts of one sequence in a step

enum class Source : uint8_t { lookup, mtp, forced };
constexpr int32_t kNumSources = 3;

// How often drafts were accepted, by their position after the last committed token.
struct Acceptance {
  std::array<float, kMaxPositions> tries{}, hits{};

  // `num_accepted` of `num_drafts` were accepted: those after the first rejected one were never tried.
  void note(int32_t num_drafts, int32_t num_accepted, float forgetting) noexcept;
};

// The drafts one sequence could offer in the next step.
struct Offer {
  Source source = Source::lookup;
  int32_t match_length = 0;             // of a lookup
  int32_t num_drafts = 0;               // the most it could offer
  const Acceptance* history = nullptr;  // acceptance of this source in the sequence
  int32_t num_admitted = 0;             // result
};

// A step in which every row belongs to a decoding sequence.
struct DecodeStep {
  int32_t num_sequences = 0;
  int32_t num_rows = 0;     // including drafts
  int32_t num_tokens = 0;   // generated
  int32_t num_updates = 0;  // sequences whose recurrent state moved to the next block, which takes additional time
  double seconds = 0;
  double draft_seconds = 0;  // the part of `seconds` spent on drafting
  int32_t num_draft_steps = 0;
  bool feeds_head = false;  // the head processed the step's tokens
  bool is_encoded = false;  // the host encodes launches, except those of a plain step that repeats the one before
};

class Policy {
 public:
  Policy();

  // Sets num_admitted of every offer for a step in which `num_sequences` sequences decode.
  void admit(std::span<Offer> offers, int32_t num_sequences);

  void note_step(const DecodeStep& step) noexcept;
  // A step that note_step() does not describe ran, with rows of prompts: the next one repeats nothing.
  void note_break() noexcept { last_ = {}; }

  // Records the outcome of an admitted offer.
  void note_drafts(const Offer& offer, int32_t num_accepted, Acceptance& history) noexcept;

  // Expected number of accepted drafts of an offer.
  double expected(const Offer& offer) const noexcept;

  // Whether the head should process the tokens of the step admitted last, so that it can draft after them. That costs a
  // little in every step, and occasional steps without it measure how much. If its drafts do not make up for
  // it at this number of sequences, the head is paused: then it drafts nothing either.
  bool wants_head() const noexcept { return !head().rests && !is_plain_step(); }
  bool head_rests() const noexcept { return head().rests; }

  double saved_seconds() const noexcept { return saved_; }  // compared with plain steps, by their measured cost
  int64_t num_steps() const noexcept { return num_steps_; }

  // What it has learned, as a few kilobytes that recall() checks (policy_memory.cpp). A policy that recalls begins with
  // the drafts that paid; what it measures itself soon outweighs what it recalled.
  static constexpr std::string_view kMemoryMagic = "pagoda drafts 1\n";  // the number is the version of the format
  std::string memory() const;
  bool recall(std::string_view bytes) noexcept;  // false, without any effect, for anything but the bytes of memory()

 private:
  static constexpr int64_t kFirstPlain = 7;
  struct Head {  // for about the same number of sequences
    bool rests = false;
    double account = 0;  // seconds saved by its drafts, minus those taken by its work
    double seconds = 0;  // of all steps
  };

  // What a device can repeat without encoding it again.
  struct Kind {
    int32_t num_sequences = 0;  // 0: unknown
    bool has_drafts = false, feeds_head = false;
    bool operator==(const Kind&) const = default;
  };

  const Head& head() const noexcept { return heads_[head_index_]; }
  bool is_plain_step() const noexcept { return num_steps_ >= next_plain_; }
  void plan_plain_steps(double plain, bool is_encoded) noexcept;
  void begin_recalled() noexcept;
  const StepCosts& costs() const noexcept { return costs_[has_head_ && !head().rests ? 1 : 0]; }
  double plain_cost(int32_t num_sequences) const noexcept;
  void note_cost(const DecodeStep& step, bool is_fresh) noexcept;
  void note_gain(double gain, double plain) noexcept;
  void note_head(const DecodeStep& step, double seconds, double gain) noexcept;
  double probability(const Offer& offer, int32_t position) const noexcept;
  bool may_draft(int32_t num_sequences) const noexcept;
  int32_t best_count(int32_t num_sequences) const noexcept;  // how many of slots_ to use

  std::array<StepCosts, 2> costs_;  // of steps without and with the head's work
  RecentMedian draft_cost_;         // seconds of one draft step
  RecentMedian update_cost_;        // seconds of one state update
  RecentMedian restart_cost_;       // additional seconds of a plain step after a step of another kind
  std::array<Head, 8> heads_;       // by the binary logarithm of the number of sequences
  size_t head_index_ = 0;
  bool has_head_ = false;                                     // whether any step fed the head
  std::array<std::array<Acceptance, 6>, kNumSources> prior_;  // by source and length of match
  double decode_seconds_ = 0, saved_ = 0;
  double account_ = 0;  // seconds gained and not lost again; below 0 if drafts have cost more than they saved
  int64_t num_steps_ = 0;
  int64_t next_plain_ = kFirstPlain;  // number of steps before the next one without drafts and the head's work
  Kind last_;
  bool knows_plain_ = true;                        // from a plain step of this process
  int32_t silent_steps_ = 0, retry_interval_ = 4;  // steps since a draft; some are tried after the interval
  struct Slot {
    float survival;  // probability that this draft and all before it are accepted
    int32_t offer;
    int32_t depth;  // drafts of the offer up to this one
    bool is_drafted_by_model;
  };
  std::vector<Slot> slots_;  // the likeliest first
};

}  // namespace pagoda::speculate
