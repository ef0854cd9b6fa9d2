// Policy: how many drafts a step takes, from what steps cost here and how often drafts held. Pure: no clock, no device;
// answers never depend on it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace pagoda::speculate {

constexpr int32_t kMaxPositions = 15;  // drafts of one sequence in a step

enum class Source : uint8_t { lookup, mtp, forced };
constexpr int32_t kNumSources = 3;

// How often drafts held, by their position behind the last sure token.
struct Acceptance {
  std::array<float, kMaxPositions> tries{}, hits{};

  // `num_accepted` of `num_drafts` held: those after the first that did not were never tried.
  void note(int32_t num_drafts, int32_t num_accepted, float forgetting) noexcept;
};

// The drafts one sequence could offer in the next step.
struct Offer {
  Source source = Source::lookup;
  int32_t match_length = 0;             // of a lookup
  int32_t num_drafts = 0;               // at most
  const Acceptance* history = nullptr;  // of the sequence with this source
  int32_t num_admitted = 0;             // answer
};

class Policy {
 public:
  Policy();

  // Sets num_admitted of every offer for a step in which `num_sequences` sequences decode.
  void admit(std::span<Offer> offers, int32_t num_sequences);

  // A step of `num_rows` rows of decoding sequences, drafts included, took `seconds`, in which `num_tokens` tokens were
  // made; draft_seconds of them went into drafting. Steps with prompts say nothing and are not told. feeds_head: the
  // head took up its tokens.
  void note_step(int32_t num_sequences, int32_t num_rows, int32_t num_tokens, double seconds, double draft_seconds,
                 int32_t num_draft_steps, bool feeds_head = false) noexcept;

  // The outcome of an offer that was admitted.
  void note_drafts(const Offer& offer, int32_t num_accepted, Acceptance& history) noexcept;

  // Drafts of an offer that will hold, on average.
  double expected(const Offer& offer) const noexcept;

  // Whether the head should take up the tokens of the step that was admitted last, so that it can draft after them.
  // That costs a little in every step, and now and then a step without it shows how much. Where its drafts do not earn
  // that, with so many sequences, the head rests: it drafts nothing either.
  bool wants_head() const noexcept { return !head().rests && !is_plain_step(); }
  bool head_rests() const noexcept { return head().rests; }

  double saved_seconds() const noexcept { return saved_; }  // against plain steps, by their measured cost

 private:
  static constexpr int32_t kMaxRows = 128;

  using Costs = std::array<double, kMaxRows + 1>;  // seconds of a step by rows, newest counting most; 0: not seen
  struct Head {                                    // with about the same number of sequences
    bool rests = false;
    double account = 0;  // seconds that its drafts gave, less what its work took
    double seconds = 0;  // of all steps
  };

  const Head& head() const noexcept { return heads_[head_index_]; }
  bool is_plain_step() const noexcept;
  const Costs& costs() const noexcept { return costs_[has_head_ && !head().rests ? 1 : 0]; }
  double cost_of(int32_t num_rows) const noexcept;
  double plain_cost(int32_t num_sequences) const noexcept;
  void note_head(int32_t num_sequences, double seconds, bool feeds_head, double gain) noexcept;
  double probability(const Offer& offer, int32_t position) const noexcept;
  bool may_draft(int32_t num_sequences) const noexcept;
  int32_t best_count(int32_t num_sequences) const noexcept;  // of slots_

  std::array<Costs, 2> costs_{};  // of steps without the head's work, and with it
  double draft_cost_ = 0;         // seconds of one draft step
  std::array<Head, 8> heads_;     // by the binary logarithm of the number of sequences
  size_t head_index_ = 0;
  bool has_head_ = false;                                     // some step fed it
  std::array<std::array<Acceptance, 6>, kNumSources> prior_;  // by source and length of match
  double decode_seconds_ = 0, saved_ = 0;
  double account_ = 0;  // seconds won and not yet lost again; below 0 when drafts have cost more than they gave
  int64_t num_steps_ = 0;
  int32_t silent_steps_ = 0, retry_interval_ = 16;  // steps without drafts; after how many one draft is tried
  struct Slot {
    float survival;  // chance that this draft and all before it hold
    int32_t offer;
    int32_t depth;  // drafts of the offer up to this one
    bool is_drafted_by_model;
  };
  std::vector<Slot> slots_;  // the likeliest first
};

}  // namespace pagoda::speculate
