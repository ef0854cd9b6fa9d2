// The files of a model that turn text into token ids and back.
#pragma once

#include <memory>

#include "base/result.h"
#include "io/model_files.h"
#include "text/bpe/tokenizer.h"
#include "text/jinja/jinja.h"

namespace pagoda::engine {

// Null without an error if the folder has no such file.
Result<std::shared_ptr<const text::SubwordTokenizer>> load_tokenizer_file(const io::ModelFiles& files);
Result<std::shared_ptr<const text::JinjaTemplate>> load_template_file(const io::ModelFiles& files);

}  // namespace pagoda::engine
