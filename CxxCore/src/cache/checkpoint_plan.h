// Where in a prompt recurrent states are worth keeping.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace pagoda::cache {

// Tokens between two checkpoints that nothing but distance calls for, in short prompts and in answers. A copy of a
// state costs about as much as computing three tokens, so one in 256 stays near one hundredth.
constexpr int32_t kCheckpointGrid = 256;

// Positions in a prompt (how many tokens come before), ascending, at most `most`. In order of worth:
// - just before the last token, for the same prompt again; or, when it is hardly further back, the end of the last
// turn,
//   which also survives that the template opens the next answer differently (dropped reasoning);
// - the ends of the last two turns and of the first (the instructions), and what the request asks for;
// - a grid, wide enough to take no more than half;
// - ends of other turns, at some distance from each other.
// A turn ends behind a token that would end an answer.
std::vector<int32_t> plan_checkpoints(std::span<const int32_t> prompt, std::span<const int32_t> turn_end_ids,
                                      std::span<const int32_t> requested, int32_t most);

}  // namespace pagoda::cache
