// StopStrings: finds the stop that ends first, holds back exactly the text that may become one, however it is split.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "support/test.h"
#include "text/stop_strings.h"

namespace pagoda::test {

namespace {

struct Answer {
  bool stopped = false;
  std::string out, matched;
  bool operator==(const Answer&) const = default;
};

// The slow, simple way: the first end of any stop, and among those ending there the earliest start.
Answer expected_answer(const std::vector<std::string>& stops, const std::string& text) {
  for (size_t end = 1; end <= text.size(); ++end) {
    Answer answer;
    for (const std::string& stop : stops) {
      if (stop.empty() || stop.size() > end || stop.size() <= answer.matched.size()) continue;
      if (text.compare(end - stop.size(), stop.size(), stop) == 0) answer.matched = stop;
    }
    if (answer.matched.empty()) continue;
    answer.stopped = true;
    answer.out = text.substr(0, end - answer.matched.size());
    return answer;
  }
  return {false, text, ""};
}

// How much of the end of `text` may be the beginning of a stop.
size_t expected_held(const std::vector<std::string>& stops, const std::string& text) {
  size_t held = 0;
  for (const std::string& stop : stops) {
    for (size_t n = 1; n < stop.size() && n <= text.size(); ++n) {
      if (text.compare(text.size() - n, n, stop, 0, n) == 0) held = std::max(held, n);
    }
  }
  return held;
}

// Feeds the text in chunks that end at `cuts`; checks the text that is held back after each.
Answer feed(const std::vector<std::string>& stops, const std::string& text, std::vector<size_t> cuts) {
  text::StopStrings watcher(stops);
  Answer answer;
  size_t begin = 0;
  cuts.push_back(text.size());
  for (const size_t cut : cuts) {
    answer.stopped = watcher.push(std::string_view(text).substr(begin, cut - begin), /*armed=*/true, answer.out);
    answer.matched = watcher.matched();
    if (answer.stopped) return answer;
    begin = cut;
    CHECK_EQ(answer.out.size() + expected_held(stops, text.substr(0, cut)), cut);
  }
  watcher.finish(answer.out);
  return answer;
}

struct Fixture {
  std::vector<std::string> stops;
  std::string text;
};

const std::vector<Fixture> kFixtures = {
    {{"</s>"}, "one two </s> three"},
    {{"</s>"}, "one </ two </s"},
    {{"abc", "bcd"}, "xabcd"},
    {{"abcd", "bc"}, "xabcd"},
    {{"bc", "abc", "c"}, "xabcd"},
    {{"aab"}, "aaaaaab aab"},
    {{"\n\nUser:", "\n\n"}, "Hello\n\nUser: no"},
    {{"\n\nUser:"}, "Hello\n\n\nUser: no"},
    {{"ababac", "babad"}, "abababadxx"},
    {{"\xE4\xB8\xAD\xE6\x96\x87", "\xE6\x96\x87\xE5"}, "\xE4\xB8\xAD \xE4\xB8\xAD\xE6\x96\x87 end"},
    {{"", "x"}, "abc x"},
    {{""}, "nothing stops"},
    {{}, "nothing stops"},
    {{"a"}, "a"},
    {{"stop", "stop"}, "full stop."},
};

}  // namespace

PAGODA_TEST(stop_strings_agree_with_a_plain_search_for_every_split) {
  for (const auto& [stops, text] : kFixtures) {
    const Answer expected = expected_answer(stops, text);
    note("text: " + text);
    for (size_t i = 0; i <= text.size(); ++i) {
      for (size_t j = i; j <= text.size(); ++j) CHECK(feed(stops, text, {i, j}) == expected);
    }
    std::vector<size_t> every_byte;
    for (size_t i = 1; i < text.size(); ++i) every_byte.push_back(i);
    CHECK(feed(stops, text, every_byte) == expected);
  }
}

PAGODA_TEST(stop_strings_agree_with_a_plain_search_on_random_texts) {
  std::mt19937_64 random(seed(11));
  const auto word = [&](size_t max_size) {
    std::string result;
    for (size_t n = random() % (max_size + 1); n > 0; --n) result += "ab"[random() % 2];
    return result;
  };
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> stops;
    for (size_t n = random() % 4; n > 0; --n) stops.push_back(word(7));
    const std::string text = word(24);
    std::vector<size_t> cuts = {random() % (text.size() + 1), random() % (text.size() + 1)};
    std::sort(cuts.begin(), cuts.end());
    CHECK(feed(stops, text, cuts) == expected_answer(stops, text));
  }
}

PAGODA_TEST(stop_strings_do_nothing_while_not_armed) {
  text::StopStrings watcher({"stop"});
  std::string out;
  CHECK(!watcher.push("a st", /*armed=*/true, out));
  CHECK_EQ(out, "a ");
  CHECK(!watcher.push("op stop st", /*armed=*/false, out));
  CHECK_EQ(out, "a stop stop st");
  // Text emitted while not armed is not the start of a stop string.
  CHECK(!watcher.push("op", /*armed=*/true, out));
  CHECK_EQ(out, "a stop stop stop");
  CHECK(watcher.push(" stop it", /*armed=*/true, out));
  CHECK_EQ(out, "a stop stop stop ");
  CHECK(watcher.push("more", /*armed=*/true, out));
  watcher.finish(out);
  CHECK_EQ(out, "a stop stop stop ");
}

PAGODA_TEST(stop_strings_take_long_stops_and_long_streams_in_linear_time) {
  constexpr size_t kLength = 200'000;  // quadratic work would be 4e10 steps
  std::vector<std::string> stops = {std::string(kLength, 'a') + "b"};
  for (int i = 0; i < 2000; ++i) stops.push_back("x" + std::to_string(i) + "y");
  text::StopStrings watcher(stops);
  std::string out;
  for (size_t i = 0; i < 2 * kLength; ++i) CHECK(!watcher.push("a", /*armed=*/true, out));
  CHECK_EQ(out.size(), kLength);
  for (int i = 0; i < 2000; ++i) CHECK(!watcher.push("x" + std::to_string(i) + "z", /*armed=*/true, out));
  CHECK(watcher.push("x77y", /*armed=*/true, out));
  CHECK_EQ(watcher.matched(), "x77y");
}

}  // namespace pagoda::test
