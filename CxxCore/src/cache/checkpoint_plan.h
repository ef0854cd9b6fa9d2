// Positions in a prompt at which recurrent states are worth saving.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pagoda::cache {

// Tokens between two checkpoints on the grid, in short prompts and in answers. Copying a state costs about
// as much as computing three tokens, so one copy per 256 tokens costs about one per cent.
constexpr int32_t kCheckpointGrid = 256;

// Positions that are learned when other prompts turn out to share a prefix: their space is reserved with the sequence.
constexpr size_t kMoreCheckpoints = 4;

// Positions in a prompt (numbers of preceding tokens), ascending, at most `most`. In order of value:
// - just before the last token, for a repeated prompt; or, if it is only slightly earlier, the end of the last turn,
//   which stays valid if the template opens the next answer differently (dropped reasoning);
// - the ends of the last two turns and of the first (the instructions), and the positions that the request gives;
// - a grid, wide enough to use no more than half of `most`;
// - ends of other turns, at some distance from each other.
// A turn ends after a token that would end an answer.
std::vector<int32_t> plan_checkpoints(std::span<const int32_t> prompt, std::span<const int32_t> turn_end_ids,
                                      std::span<const int32_t> requested, int32_t most);

}  // namespace pagoda::cache
