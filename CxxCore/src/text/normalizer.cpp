// NFC by segments: text is split before every character that never combines, and only segments with other characters
// are processed.
#include "text/normalizer.h"

#include <algorithm>
#include <utility>

#include "text/unicode/unicode.h"

namespace pagoda::text {

namespace {

// Hangul syllables are composed by arithmetic (Unicode 3.12): syllable = kSyllables + (l * 21 + v) * 28 + t.
constexpr char32_t kSyllables = 0xAC00, kLeads = 0x1100, kVowels = 0x1161, kTails = 0x11A7;
constexpr char32_t kNumLeads = 19, kNumVowels = 21, kNumTails = 28;
constexpr char32_t kNumSyllables = kNumLeads * kNumVowels * kNumTails;

struct Mark {
  char32_t value;
  uint8_t combining_class;
  size_t index;  // original order: marks of one class keep it
};

void decompose(char32_t c, std::vector<Mark>& out) {
  const auto add = [&out](char32_t value, uint8_t ccc) { out.push_back({value, ccc, out.size()}); };
  if (c - kSyllables < kNumSyllables) {
    const char32_t index = c - kSyllables;
    add(kLeads + index / (kNumVowels * kNumTails), 0);
    add(kVowels + index / kNumTails % kNumVowels, 0);
    if (index % kNumTails != 0) add(kTails + index % kNumTails, 0);
    return;
  }
  const Decomposition* parts = find_decomposition(c);
  if (parts == nullptr) {
    add(c, combining_class(c));
    return;
  }
  decompose(parts->first, out);
  if (parts->second != 0) decompose(parts->second, out);
}

char32_t compose(char32_t first, char32_t second) {
  if (first - kLeads < kNumLeads && second - kVowels < kNumVowels) {
    return kSyllables + ((first - kLeads) * kNumVowels + (second - kVowels)) * kNumTails;
  }
  if (first - kSyllables < kNumSyllables && (first - kSyllables) % kNumTails == 0 && second > kTails &&
      second - kTails < kNumTails) {
    return first + (second - kTails);
  }
  return find_composition(first, second);
}

void sort_marks(std::vector<Mark>& marks) {
  const auto is_starter = [](const Mark& m) { return m.combining_class == 0; };
  for (auto begin = marks.begin(); begin != marks.end();) {
    begin = std::find_if_not(begin, marks.end(), is_starter);
    const auto end = std::find_if(begin, marks.end(), is_starter);
    std::sort(begin, end, [](const Mark& a, const Mark& b) {
      return std::pair(a.combining_class, a.index) < std::pair(b.combining_class, b.index);
    });
    begin = end;
  }
}

// Composes in place: a mark combines with the last starter unless one between them has the same or a higher class.
void compose_all(std::vector<Mark>& marks) {
  size_t kept = 0, starter = marks.size();  // starter == size: none yet
  for (const Mark mark : marks) {
    const bool adjacent = starter < kept && kept == starter + 1;
    const bool blocked = !adjacent && kept > 0 && marks[kept - 1].combining_class >= mark.combining_class;
    if (starter < kept && !blocked) {
      if (const char32_t joined = compose(marks[starter].value, mark.value); joined != 0) {
        marks[starter].value = joined;
        continue;
      }
    }
    if (mark.combining_class == 0) starter = kept;
    marks[kept++] = mark;
  }
  marks.resize(kept);
}

}  // namespace

void add_run(size_t end, bool from_template, std::vector<OriginRun>& runs) {
  if (end == (runs.empty() ? 0 : runs.back().end)) return;
  if (!runs.empty() && runs.back().from_template == from_template) {
    runs.back().end = end;
  } else {
    runs.push_back({end, from_template});
  }
}

bool is_certainly_nfc(std::string_view text) noexcept {
  for (size_t i = 0; i < text.size();) {
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      ++i;
      continue;
    }
    const Character c = read_character(text.data() + i);
    if (char_flags(c.value) & kNfcAttention) return false;
    i += c.num_bytes;
  }
  return true;
}

void append_nfc(std::string_view text, const std::vector<OriginRun>& runs, std::string& out,
                std::vector<OriginRun>& out_runs) {
  std::vector<Mark> marks;
  size_t run = 0;
  for (size_t begin = 0; begin < text.size();) {
    // One segment: a character and the following ones that need attention.
    Character c = read_character(text.data() + begin);
    bool changes = char_flags(c.value) & kNfcAttention;
    size_t end = begin + c.num_bytes;
    while (end < text.size()) {
      c = read_character(text.data() + end);
      if (!(char_flags(c.value) & kNfcAttention)) break;
      changes = true;
      end += c.num_bytes;
    }
    if (changes) {
      marks.clear();
      for (size_t i = begin; i < end; i += c.num_bytes) {
        c = read_character(text.data() + i);
        decompose(c.value, marks);
      }
      sort_marks(marks);
      compose_all(marks);
      for (const Mark& mark : marks) append_utf8(mark.value, out);
    } else {
      out.append(text, begin, end - begin);
    }
    while (runs[run].end <= begin) ++run;
    bool from_template = runs[run].from_template;
    for (; runs[run].end < end; ++run) from_template = from_template && runs[run + 1].from_template;
    add_run(out.size(), from_template, out_runs);
    begin = end;
  }
}

}  // namespace pagoda::text
