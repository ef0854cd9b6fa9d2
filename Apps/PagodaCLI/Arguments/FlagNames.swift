// FlagNames: translates the field names in messages of the core and of PagodaKit to those of command-line options.
import PagodaKit

/// Options whose name is not the field's name with dashes.
private let ownNames = [
  "num_threads": "threads", "kv_cache_bytes": "kv-cache-memory", "checkpoint_bytes": "checkpoint-memory",
  "host_cache_bytes": "host-cache-memory", "lora_bytes": "lora-memory", "expert_memory_bytes": "expert-memory",
  "image_cache_bytes": "image-cache-memory", "vision_file": "mmproj",
  "weight_cache_disk_bytes": "weight-cache-disk", "prefix_cache_disk_bytes": "prefix-cache-disk",
  "max_drafts": "speculate-max", "speculation": "speculate",
]

private let sameNames: Set<String> = [
  "max_num_seqs", "max_num_batched_tokens", "max_model_len", "num_kv_blocks", "max_step_ms", "block_size", "kv_dtype",
  "state_dtype",
  "max_image_tokens",
  "weight_cache", "prefix_cache_dir", "pipeline_split", "pipeline_timeout_ms", "quantize", "dtype",
]

/// Replaces fields by their options in a message: `max_num_seqs must be ...` or `maximumSequences must be ...` becomes
/// `--max-num-seqs must be ...`. A name that is also an ordinary word is replaced only at the start of a message.
package func namingFlags(_ message: String) -> String {
  var words = message.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
  for (index, given) in words.enumerated() {
    let word = PagodaError.coreName(of: given) ?? given
    guard word.contains("_") || index == 0, let flag = ownNames[word] ?? (sameNames.contains(word) ? word : nil) else {
      continue
    }
    words[index] = "--" + flag.replacing("_", with: "-")
  }
  return words.joined(separator: " ")
}
