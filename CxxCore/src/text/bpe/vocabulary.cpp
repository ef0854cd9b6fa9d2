// The byte-level alphabet, and a hash table over token contents stored in one arena.
#include "text/bpe/vocabulary.h"

#include <array>
#include <cstring>

#include "base/concat.h"
#include "base/quoted.h"
#include "text/sentencepiece_rules.h"
#include "text/unicode/unicode.h"

namespace pagoda::text {

namespace {

// Bytes that are printable in Latin-1 spell themselves; the others map to the characters from U+0100 on, in order.
constexpr char32_t kAlphabetEnd = 0x144;

constexpr bool is_printable_latin1(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
}

constexpr std::array<char32_t, 256> make_alphabet() {
  std::array<char32_t, 256> alphabet{};
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) alphabet[byte] = is_printable_latin1(byte) ? byte : next++;
  return alphabet;
}
constexpr std::array<char32_t, 256> kAlphabet = make_alphabet();

constexpr std::array<int16_t, kAlphabetEnd> make_byte_of() {
  std::array<int16_t, kAlphabetEnd> byte_of{};
  for (int16_t& byte : byte_of) byte = -1;
  for (unsigned byte = 0; byte < 256; ++byte) byte_of[kAlphabet[byte]] = static_cast<int16_t>(byte);
  return byte_of;
}
constexpr std::array<int16_t, kAlphabetEnd> kByteOf = make_byte_of();

// Decodes `spelling` into `out` (at least spelling.size() bytes); returns false if it is not byte-level. The alphabet
// ends within the two-byte characters, so longer sequences need neither decoding nor validation.
bool decode_spelling(std::string_view spelling, char* out, size_t& num_bytes) noexcept {
  num_bytes = 0;
  for (size_t i = 0; i < spelling.size();) {
    const auto lead = static_cast<unsigned char>(spelling[i]);
    const size_t length = lead < 0x80 ? 1 : 2;
    if (lead >= 0xE0 || spelling.size() - i < length) return false;
    const char32_t c = read_character(spelling.data() + i).value;
    if (c >= kAlphabetEnd || kByteOf[c] < 0) return false;
    out[num_bytes++] = static_cast<char>(kByteOf[c]);
    i += length;
  }
  return true;
}

uint64_t hash_bytes(std::string_view bytes, bool verbatim) noexcept {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  uint64_t hash = (bytes.size() * 2 + verbatim) * kMultiplier;
  const char* p = bytes.data();
  size_t left = bytes.size();
  for (; left > 0; p += 8) {
    uint64_t word = 0;
    std::memcpy(&word, p, left < 8 ? left : 8);
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 32;
    left -= left < 8 ? left : 8;
  }
  return hash;
}

constexpr size_t kMaxStackSpelling = 4096;

}  // namespace

int32_t BpeVocabulary::find(std::string_view bytes, bool verbatim) const noexcept {
  const uint64_t hash = hash_bytes(bytes, verbatim);
  const size_t mask = slots_.size() - 1;
  for (size_t i = (hash >> 20) & mask;; i = (i + 1) & mask) {
    const Slot& slot = slots_[i];
    if (slot.id == kNone) return kNone;
    if (slot.tag != static_cast<uint32_t>(hash)) continue;
    const Token& token = tokens_[slot.id];
    if (token.verbatim == verbatim && token.length == bytes.size() &&
        std::memcmp(arena_.data() + token.offset, bytes.data(), bytes.size()) == 0) {
      return slot.id;
    }
  }
}

int32_t BpeVocabulary::find_spelling(std::string_view spelling) const noexcept {
  if (is_sentencepiece_) {
    if (const int byte = has_bytes_ ? byte_of_token(spelling) : -1; byte >= 0) return byte_ids_[byte];
    const int32_t id =
        spelling.find(' ') == std::string_view::npos ? find(spaced_token(spelling), /*verbatim=*/false) : kNone;
    return id != kNone ? id : find(spelling, /*verbatim=*/true);
  }
  char buffer[kMaxStackSpelling];
  size_t num_bytes = 0;
  if (spelling.size() <= sizeof(buffer) && decode_spelling(spelling, buffer, num_bytes)) {
    const int32_t id = find({buffer, num_bytes}, /*verbatim=*/false);
    if (id != kNone) return id;
  }
  return find(spelling, /*verbatim=*/true);
}

bool BpeVocabulary::is_join(int32_t id, int32_t left, int32_t right) const noexcept {
  if (!has(id) || tokens_[id].verbatim || tokens_[left].verbatim || tokens_[right].verbatim) return false;
  const std::string_view whole = bytes(id), first = bytes(left), second = bytes(right);
  return whole.size() == first.size() + second.size() && whole.starts_with(first) && whole.ends_with(second);
}

std::string BpeVocabulary::spelling(int32_t id) const {
  if (!has(id) || tokens_[id].verbatim) return std::string(bytes(id));
  if (tokens_[id].is_byte) {
    constexpr char kDigits[] = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(bytes(id).front());
    return std::string("<0x") + kDigits[byte >> 4] + kDigits[byte & 15] + ">";
  }
  if (is_sentencepiece_) return spelled_token(bytes(id));
  std::string text;
  for (const char byte : bytes(id)) append_utf8(kAlphabet[static_cast<unsigned char>(byte)], text);
  return text;
}

Status BpeVocabulary::check_id(std::string_view spelling, int64_t id) const {
  if (id < 0 || id >= kMaxTokens) {
    return make_error(StatusCode::bad_file,
                      concat("token ", io::quoted(spelling), " has the id ", id, ", outside [0, ", kMaxTokens, ")"));
  }
  if (spelling.size() > kMaxStackSpelling) {
    return make_error(StatusCode::bad_file, concat("token ", io::quoted(spelling), " is ", spelling.size(),
                                                   " bytes long, more than ", kMaxStackSpelling));
  }
  return ok_status();
}

Status BpeVocabulary::store(std::string_view bytes, bool verbatim, int32_t id) {
  if (static_cast<size_t>(id) >= tokens_.size()) tokens_.resize(static_cast<size_t>(id) + 1);
  tokens_[id] = {static_cast<uint32_t>(arena_.size()), static_cast<uint32_t>(bytes.size()), 0, verbatim};
  arena_ += bytes;
  const uint64_t hash = hash_bytes(bytes, verbatim);
  if ((++num_used_ * 2 > slots_.size() && !grow_slots()) || !put({static_cast<uint32_t>(hash), id}, hash)) {
    return make_error(StatusCode::bad_file, "token " + io::quoted(bytes) + " has the hash of too many others");
  }
  return ok_status();
}

bool BpeVocabulary::put(Slot slot, uint64_t hash) {
  const size_t mask = slots_.size() - 1;
  size_t i = (hash >> 20) & mask;
  for (size_t probes = 0; slots_[i].id != kNone; i = (i + 1) & mask) {
    if (++probes > kMaxProbes) return false;
  }
  slots_[i] = slot;
  return true;
}

bool BpeVocabulary::grow_slots() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.id == kNone) continue;
    if (!put(slot, hash_bytes(bytes(slot.id), tokens_[slot.id].verbatim))) return false;
  }
  return true;
}

void BpeVocabulary::use_sentencepiece(bool has_bytes) noexcept {
  is_sentencepiece_ = true;
  has_bytes_ = has_bytes;
}

Status BpeVocabulary::add_sentencepiece_token(std::string_view spelling, int64_t id) {
  const auto index = static_cast<int32_t>(id);
  if (find_spelling(spelling) != kNone)
    return make_error(StatusCode::bad_file, "token " + io::quoted(spelling) + " occurs twice");
  if (has(index)) {
    return make_error(StatusCode::bad_file, concat("tokens ", io::quoted(this->spelling(index)), " and ",
                                                   io::quoted(spelling), " have the same id ", id));
  }
  if (const int byte = has_bytes_ ? byte_of_token(spelling) : -1; byte >= 0) {
    if (static_cast<size_t>(id) >= tokens_.size()) tokens_.resize(static_cast<size_t>(id) + 1);
    tokens_[index] = {static_cast<uint32_t>(arena_.size()), 1, 1, 0};
    arena_ += static_cast<char>(byte);
    byte_ids_[byte] = index;
    return ok_status();
  }
  const bool verbatim = spelling.find(' ') != std::string_view::npos;  // other tokens spell a space as U+2581
  return store(verbatim ? std::string(spelling) : spaced_token(spelling), verbatim, index);
}

Status BpeVocabulary::add(std::string_view spelling, int64_t id) {
  PAGODA_RETURN_IF_ERROR(check_id(spelling, id));
  if (is_sentencepiece_) return add_sentencepiece_token(spelling, id);
  char buffer[kMaxStackSpelling];
  size_t num_bytes = 0;
  const bool verbatim = !decode_spelling(spelling, buffer, num_bytes);
  const std::string_view bytes = verbatim ? spelling : std::string_view(buffer, num_bytes);
  if (find(bytes, verbatim) != kNone) {
    return make_error(StatusCode::bad_file, "token " + io::quoted(spelling) + " occurs twice");
  }
  const auto index = static_cast<int32_t>(id);
  if (has(index)) {
    return make_error(StatusCode::bad_file, concat("tokens ", io::quoted(this->spelling(index)), " and ",
                                                   io::quoted(spelling), " have the same id ", id));
  }
  return store(bytes, verbatim, index);
}

Status BpeVocabulary::add_verbatim(std::string_view spelling, int64_t id) {
  PAGODA_RETURN_IF_ERROR(check_id(spelling, id));
  const auto index = static_cast<int32_t>(id);
  const int32_t existing = find_spelling(spelling);
  if (existing != kNone && existing != index) {
    return make_error(StatusCode::bad_file,
                      concat("token ", io::quoted(spelling), " has the ids ", existing, " and ", id));
  }
  if (existing == kNone && has(index)) {
    return make_error(StatusCode::bad_file, concat("tokens ", io::quoted(this->spelling(index)), " and ",
                                                   io::quoted(spelling), " have the same id ", id));
  }
  const bool is_model_token =
      is_sentencepiece_ && existing != kNone && !tokens_[index].verbatim;  // so far a model token
  return existing == kNone || is_model_token || bytes(index) != spelling ? store(spelling, /*verbatim=*/true, index)
                                                                         : ok_status();
}

}  // namespace pagoda::text
