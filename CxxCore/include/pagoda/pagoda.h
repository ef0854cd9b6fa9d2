// The one door into the core: everything Swift (or any host) may see.
#pragma once

#include "pagoda/bench.h"
#include "pagoda/chat_template.h"
#include "pagoda/engine.h"
#include "pagoda/event.h"
#include "pagoda/grammar.h"
#include "pagoda/model_info.h"
#include "pagoda/output_parser.h"
#include "pagoda/profile.h"
#include "pagoda/quantize.h"
#include "pagoda/sampling_params.h"
#include "pagoda/status.h"
#include "pagoda/swift_bridging.h"
#include "pagoda/tokenizer.h"
