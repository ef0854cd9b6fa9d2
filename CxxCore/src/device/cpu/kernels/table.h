// Kernel text: the table of this instruction set. Needs kName.

extern const Kernels kKernels = {
    .name = kName,
    .packed = kPacked,
    .matmul = {matmul<float>, matmul<F16>},
    .rotate = rotate,
    .to_int8 = to_int8,
    .to_bf16 = to_bf16,
    .widen = {widen<float>, widen<F16>, widen<Bf16>},
    .narrow = {narrow<float>, narrow<F16>, narrow<Bf16>},
    .rms_norm = rms_norm,
    .norm_rope = norm_rope,
    .gated_norm = gated_norm,
    .sigmoid_gate = sigmoid_gate,
    .silu_mul = silu_mul,
    .conv = conv,
    .cache_row = {narrow<float>, narrow<F16>, narrow<Bf16>, quantize_row},
    .attention = {attention<float>, attention<F16>, attention<Bf16>, attention<I8>},
    .attend_partition = {attend_partition<float>, attend_partition<F16>, attend_partition<Bf16>, attend_partition<I8>},
    .merge_partials = merge_partials,
    .gdn_keys = gdn_keys,
    .gdn_head = gdn_head,
};
