// model: the embedded model says what transformers says, in its own bf16 and in float32, with many chats side by side.
#include <fstream>
#include <sstream>

#include "io/json.h"
#include "model/model_runner.h"

namespace pagoda::test {
namespace {

struct Chat {
  std::string question;
  std::vector<int32_t> prompt, answer, capital;  // capital: the run of tokens that an answer must hold
};

std::vector<int32_t> integers(const io::Json* array) {
  std::vector<int32_t> values;
  if (array != nullptr)
    for (const io::Json& item : array->items()) values.push_back(static_cast<int32_t>(item.as_integer()));
  return values;
}

std::vector<Chat> read_chats(const char* key) {
  std::stringstream text;
  text << std::ifstream(fixtures_dir() + "/model/mini.json").rdbuf();
  auto json = io::parse_json(text.str());
  CHECK_OK(json);
  std::vector<Chat> chats;
  if (!json.is_ok() || json->find(key) == nullptr) return chats;
  for (const io::Json& row : json->find(key)->items())
    chats.push_back({row.find("question")->as_string(), integers(row.find("prompt")), integers(row.find("answer")),
                     integers(row.find("capital"))});
  return chats;
}

std::vector<std::vector<int32_t>> answers(const std::vector<Chat>& chats, const std::string& dtype, size_t count,
                                          size_t chunk, const std::string& kv_dtype = "auto") {
  const RunnerOptions options{.dtype = dtype,
                              .kv_dtype = kv_dtype,
                              .max_tokens = 2400,
                              .max_seqs = static_cast<int32_t>(chats.size()),
                              .max_context = 96};
  auto runner = ModelRunner::load(folder(mini_model_dir()), options);
  CHECK_OK(runner);
  if (!runner.is_ok()) return {};
  std::vector<std::vector<int32_t>> prompts;
  for (const Chat& chat : chats) prompts.push_back(chat.prompt);
  return greedy(**runner, prompts, count, chunk, (*runner)->config().eos_token_ids.at(0));
}

void check_chats(const std::string& dtype, size_t chunk, const std::string& kv_dtype = "auto") {
  const std::vector<Chat> chats = read_chats("chats");
  CHECK_EQ(chats.size(), size_t{20});
  const auto said = answers(chats, dtype, 32, chunk, kv_dtype);
  REQUIRE(said.size() == chats.size());
  for (size_t i = 0; i < chats.size(); ++i) {
    if (said[i] != chats[i].answer) note(chats[i].question);
    CHECK(said[i] == chats[i].answer);
  }
}

}  // namespace

PAGODA_TEST(model_mini_answers_chats_like_transformers) { check_chats("auto", 64); }
PAGODA_TEST(model_mini_answers_chats_like_transformers_in_float32) { check_chats("float32", 7); }
PAGODA_TEST(model_mini_answers_chats_the_same_with_int8_kv) { check_chats("auto", 64, "int8"); }
PAGODA_TEST(model_mini_knows_100_of_100_capitals) {
  const std::vector<Chat> chats = read_chats("capitals");
  CHECK_EQ(chats.size(), size_t{100});
  const auto said = answers(chats, "auto", 24, 64);
  REQUIRE(said.size() == chats.size());
  size_t num_right = 0;
  for (size_t i = 0; i < chats.size(); ++i) {
    const auto& capital = chats[i].capital;
    const auto found = std::search(said[i].begin(), said[i].end(), capital.begin(), capital.end());
    if (!capital.empty() && found != said[i].end()) ++num_right;
    else note(chats[i].question);
  }
  CHECK_EQ(num_right, size_t{100});
}

}  // namespace pagoda::test
