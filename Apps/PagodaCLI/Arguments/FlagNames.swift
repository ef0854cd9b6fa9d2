// FlagNames: the names of command-line options in errors about fields of the core.
import PagodaKit

extension FieldNames {
  /// As in `--max-num-seqs`. An option has the field's name with dashes, or one of its own.
  package static let flags: FieldNames = {
    let ownNames = [
      "num_threads": "threads", "kv_cache_bytes": "kv-cache-memory", "checkpoint_bytes": "checkpoint-memory",
      "host_cache_bytes": "host-cache-memory", "lora_bytes": "lora-memory", "expert_memory_bytes": "expert-memory",
      "image_cache_bytes": "image-cache-memory", "vision_file": "mmproj",
      "weight_cache_disk_bytes": "weight-cache-disk", "prefix_cache_disk_bytes": "prefix-cache-disk",
      "max_drafts": "speculate-max", "speculation": "speculate", "pipeline_timeout_ms": "pipeline-timeout",
    ]
    let sameNames = [
      "max_num_seqs", "max_num_batched_tokens", "max_model_len", "num_kv_blocks", "max_step_ms", "block_size",
      "dtype", "quantize", "kv_dtype", "max_image_tokens", "weight_cache", "prefix_cache_dir", "pipeline_split",
    ]
    let same = sameNames.map { ($0, "--" + $0.replacing("_", with: "-")) }
    return FieldNames(ownNames.mapValues { "--" + $0 }.merging(same) { own, _ in own })
  }()
}
