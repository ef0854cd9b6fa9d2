// PastTexts: positions by a hash of their last tokens, chained from the newest to the oldest as in LookupIndex.
#include "speculate/past_texts.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace pagoda::speculate {
namespace {

constexpr size_t kNumBuckets = static_cast<size_t>(PastTexts::kMaxTokens);
static_assert((kNumBuckets & (kNumBuckets - 1)) == 0);

// The hash of the last kMinMatch tokens; `token(i)` is the i-th from the end.
template <class Token>
size_t bucket_of(Token&& token) noexcept {
  uint64_t hash = 0;
  for (int32_t i = 0; i < PastTexts::kMinMatch; ++i)
    hash = (hash ^ static_cast<uint32_t>(token(i))) * 0x9e3779b97f4a7c15u;
  return static_cast<size_t>(hash >> 40) & (kNumBuckets - 1);
}

}  // namespace

PastTexts::Salt::Salt(std::string salt)
    : name(std::move(salt)), tokens(kMaxTokens, kEnd), newest(kNumBuckets, -1), earlier(kMaxTokens, -1) {}

void PastTexts::Salt::push(int32_t token) noexcept {
  const int64_t position = num_pushed++;
  tokens[position % kMaxTokens] = token;
  int64_t before = -1;
  if (token != kEnd && num_pushed >= kMinMatch) {
    int64_t& bucket = newest[bucket_of([&](int32_t i) { return at(position - i); })];
    before = std::exchange(bucket, position);
  }
  earlier[position % kMaxTokens] = before;
}

PastTexts::Salt* PastTexts::salt_of(const std::string& name) noexcept {
  const auto found = std::ranges::find_if(salts_, [&](const auto& salt) { return salt->name == name; });
  return found == salts_.end() ? nullptr : found->get();
}

void PastTexts::add(const std::string& salt, std::span<const int32_t> tokens) noexcept {
  if (static_cast<int32_t>(tokens.size()) < kMinMatch) return;
  Salt* to = salt_of(salt);
  if (to == nullptr) try {
      salts_.reserve(kMaxSalts);
      auto made = std::make_unique<Salt>(salt);
      to = made.get();
      const auto oldest = std::ranges::min_element(salts_, {}, [](const auto& each) { return each->num_used; });
      if (salts_.size() < kMaxSalts) salts_.push_back(std::move(made));
      else *oldest = std::move(made);
    } catch (const std::exception&) {
      return;
    }
  to->num_used = ++num_uses_;
  for (const int32_t token : tokens.last(std::min(tokens.size(), static_cast<size_t>(kMaxTokens - 1)))) to->push(token);
  to->push(kEnd);
}

PastTexts::Match PastTexts::find(const std::string& salt, std::span<const int32_t> tokens) noexcept {
  Match best;
  const int64_t size = static_cast<int64_t>(tokens.size());
  Salt* from = size < kMinMatch ? nullptr : salt_of(salt);
  if (from == nullptr) return best;
  from->num_used = ++num_uses_;
  const auto own = [&](int64_t i) { return tokens[size - 1 - i]; };
  int64_t position = from->newest[bucket_of(own)];
  for (int32_t looks = 0; from->holds(position) && looks < kMaxLooks; ++looks) {
    int32_t length = 0;
    while (length < kMaxMatch && length < size && from->holds(position - length) &&
           from->at(position - length) == own(length))
      ++length;
    if (length >= kMinMatch && length > best.length) best = {length, &from->tokens, position + 1};
    if (best.length == kMaxMatch) break;
    const int64_t before = from->earlier[position % kMaxTokens];
    if (before >= position) break;
    position = before;
  }
  return best;
}

void PastTexts::draft_from(const Match& match, int32_t max_drafts, std::vector<int32_t>& drafts) {
  if (match.length == 0) return;
  for (int32_t i = 0; i < max_drafts; ++i) {
    const int32_t token = (*match.from)[(match.next + i) % kMaxTokens];
    if (token == kEnd) return;
    drafts.push_back(token);
  }
}

}  // namespace pagoda::speculate
