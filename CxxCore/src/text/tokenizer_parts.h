// TokenizerParts: reads the small parts of tokenizer.json from their trees; messages begin with the file's name.
#pragma once

#include <string>

#include "base/json.h"
#include "text/tokenizer_file.h"

namespace pagoda::text {

class TokenizerParts {
 public:
  explicit TokenizerParts(const std::string& file_name) : file_name_(file_name) {}

  const std::string& file_name() const noexcept { return file_name_; }
  Status bad(const std::string& what) const { return make_error(StatusCode::bad_file, file_name_ + ": " + what); }
  Status unsupported(const std::string& what) const {
    return make_error(StatusCode::unsupported, file_name_ + ": " + what);
  }

  // Check the options of the model, after the vocabulary was read.
  Status check_unigram(const io::Json& options, TokenizerFile& file) const;
  Status check_model(const io::Json& options, BpeModel& model) const;

  Status read_normalizer(const io::Json* json, TokenizerFile& file) const;
  Status read_added_tokens(const io::Json* json, TokenizerFile& file) const;
  Status read_start_tokens(const io::Json* post_processor, TokenizerFile& file) const;

 private:
  const std::string& file_name_;
};

}  // namespace pagoda::text
