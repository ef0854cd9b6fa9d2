// The fields of each endpoint: those that are read, those without effect here, and those that are refused.
import PagodaKit

extension FieldTable {
  /// Sampling, under the names of OpenAI and of vLLM.
  static let sampling: Set<String> = rules.union([
    "max_tokens", "min_tokens", "temperature", "top_k", "top_p", "min_p", "repetition_penalty", "presence_penalty",
    "frequency_penalty", "logit_bias", "seed", "ignore_eos", "stop", "stop_token_ids", "bad_words",
    "thinking_budget",
  ])

  /// Further rules, under llama.cpp's names.
  static let rules: Set<String> = [
    "top_n_sigma", "xtc_probability", "xtc_threshold", "dynatemp_range", "dynatemp_exponent", "dry_multiplier",
    "dry_base", "dry_allowed_length", "dry_penalty_last_n", "dry_sequence_breakers",
  ]

  /// Samplers of llama.cpp that are not supported here, with the values that switch them off.
  static let refusedSamplers: [String: [JSONValue]] = [
    "mirostat": [.integer(0)], "typical_p": [.integer(1), .number(1)], "typ_p": [.integer(1), .number(1)],
  ]

  private static let common: Set<String> = [
    "model", "stream", "stream_options", "n", "cache_salt", "priority", "speculate", "lora",
  ]

  /// Bookkeeping of other servers.
  private static let bookkeeping: Set<String> = [
    "user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key", "prompt_cache_retention",
    "request_id",
  ]

  /// Fields of other servers that are not supported here.
  private static let noted: [String: [JSONValue]] = [
    "verbosity": [.string("medium")], "skip_special_tokens": [.bool(true)],
    "spaces_between_special_tokens": [.bool(true)], "logit_processors": [.array([])], "kv_transfer_params": [],
  ]

  private static let guided: Set<String> = [
    "structured_outputs", "guided_json", "guided_regex", "guided_choice", "guided_grammar",
  ]

  private static let off: [JSONValue] = [.bool(false)]

  /// vLLM's other constraints and changes of an answer.
  private static let unsupported: [String: [JSONValue]] = [
    "best_of": [.integer(1)], "use_beam_search": off, "length_penalty": [.integer(1), .number(1)],
    "include_stop_str_in_output": off, "truncate_prompt_tokens": [],
    "logits_processors": [], "allowed_token_ids": [], "return_tokens_as_token_ids": off,
    "echo": off, "mm_processor_kwargs": [],
  ].merging(refusedSamplers) { $1 }

  static let chat = FieldTable(
    known: sampling.union(common).union([
      "messages", "tools", "tool_choice", "max_completion_tokens", "logprobs", "top_logprobs", "response_format",
      "chat_template_kwargs", "reasoning_effort", "enable_thinking", "parallel_tool_calls",
      "continue_final_message", "add_generation_prompt", "prompt_logprobs", "functions", "function_call",
      "truncation", "return_progress", "ignore_media", "prediction",
    ]).union(guided),
    ignored: bookkeeping, noted: noted,
    refused: unsupported.merging([
      "audio": [], "modalities": [.array([.string("text")])],
      "web_search_options": [], "chat_template": [], "documents": [.array([])],
      "add_special_tokens": off,
    ]) { $1 })

  static let completions = FieldTable(
    known: sampling.union(common).union([
      "prompt", "suffix", "best_of", "logprobs", "echo", "max_completion_tokens", "response_format", "prompt_logprobs",
    ]).union(guided),
    ignored: bookkeeping, noted: noted,
    refused: unsupported.merging(["prompt_embeds": [], "add_special_tokens": []]) { $1 })

  static let responses = FieldTable(
    known: sampling.subtracting(["max_tokens"]).union([
      "model", "input", "instructions", "stream", "max_output_tokens", "tools", "tool_choice", "text", "reasoning",
      "chat_template_kwargs", "metadata", "parallel_tool_calls", "top_logprobs", "cache_salt", "lora", "include",
      "priority", "previous_response_id", "store", "truncation", "ignore_media", "background", "conversation",
    ]),
    ignored: bookkeeping.union(["stream_options", "client_metadata"]),
    noted: noted.merging(["max_tool_calls": []]) { $1 },
    refused: unsupported.merging([
      "prompt": [],
      "context_management": [], "n": [.integer(1)],
      "prompt_logprobs": [], "structured_outputs": [], "guided_json": [], "guided_regex": [], "guided_choice": [],
      "guided_grammar": [],
    ]) { $1 })

  static let batches = FieldTable(
    known: ["input_file_id", "endpoint", "completion_window", "metadata"], ignored: [],
    noted: ["output_expires_after": []],
    refused: [:])

  static let messageBatches = FieldTable(known: ["requests"], ignored: ["betas"], refused: [:])

  static let conversations = FieldTable(known: ["items", "metadata"], ignored: [], refused: [:])

  static let messages = FieldTable(
    known: [
      "model", "messages", "system", "max_tokens", "stop_sequences", "stream", "temperature", "top_k", "top_p",
      "tools", "tool_choice", "thinking", "seed", "min_p", "chat_template_kwargs", "output_format", "output_config",
      "ignore_media", "lora",
    ],
    ignored: ["metadata", "service_tier", "betas", "anthropic_beta", "context_management", "inference_geo"],
    refused: ["container": [], "mcp_servers": [.array([])]])

  static let countTokens = FieldTable(
    known: messages.known, ignored: messages.ignored, refused: messages.refused)

  private static let ollama: Set<String> = [
    "model", "stream", "options", "format", "think", "logprobs", "top_logprobs",
  ]
  /// The model stays in memory, and histories that are too long are refused rather than truncated.
  private static let ollamaNoted: [String: [JSONValue]] = ["truncate": off, "shift": off]

  static let ollamaChat = FieldTable(
    known: ollama.union(["messages", "tools"]), ignored: ["keep_alive"], noted: ollamaNoted, refused: [:])

  static let ollamaGenerate = FieldTable(
    known: ollama.union(["prompt", "system", "raw", "images"]), ignored: ["keep_alive"], noted: ollamaNoted,
    refused: [
      "suffix": [.string("")], "template": [.string("")], "context": [.array([])],
      "width": [], "height": [], "steps": [],
    ])

  static let ollamaShow = FieldTable(known: ["model", "name"], ignored: ["verbose"], refused: [:])

  static let ollamaPull = FieldTable(known: ["model", "name", "stream"], ignored: ["insecure"], refused: [:])

  static let ollamaCopy = FieldTable(known: ["source", "destination"], ignored: [], refused: [:])

  static let embeddings = FieldTable(
    known: ["model", "input", "encoding_format", "dimensions", "normalize", "priority"],
    ignored: ["user", "input_type", "request_id"],
    refused: ["messages": [], "truncate_prompt_tokens": [], "add_special_tokens": [.bool(true)]])

  static let rerank = FieldTable(
    known: ["model", "query", "documents", "top_n", "return_documents", "instruction", "priority"],
    ignored: ["user", "request_id"],
    refused: ["truncate_prompt_tokens": [], "max_tokens_per_doc": []])

  static let ollamaEmbed = FieldTable(
    known: ["model", "name", "input", "truncate", "dimensions"], ignored: ["options", "keep_alive"], refused: [:])

  static let ollamaEmbeddings = FieldTable(
    known: ["model", "name", "prompt"], ignored: ["options", "keep_alive"], refused: [:])

  static let tokenize = FieldTable(
    known: [
      "model", "prompt", "messages", "tools", "add_special_tokens", "return_token_strs", "chat_template_kwargs",
      "ignore_media",
    ], ignored: [], refused: ["chat_template": [], "continue_final_message": off])

  static let detokenize = FieldTable(known: ["model", "tokens", "skip_special_tokens"], ignored: [], refused: [:])
}
