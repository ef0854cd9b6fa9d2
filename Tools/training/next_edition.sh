#!/bin/bash
# Trains the next edition from the present files: next_edition.sh SECONDS HEAD_SECONDS OUT [RATE [SEED]]. SEED chooses the
# chats: 300000 was the third edition's, so take 400000 for the fourth.
# Needs one CUDA GPU and no network. OUT/files has the model folder (usable after every minute), OUT/*.txt the tables.
set -u
cd "$(dirname "$0")/../.."
seconds=$1 head_seconds=$2 out=$3 rate=${4:-0.5} seed=${5:-300000}
from=${FROM:-Sources/MiniModel/files} here=Tools/training python=${PYTHON:-python3}
export HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1 TOKENIZERS_PARALLELISM=false OMP_NUM_THREADS=${OMP_NUM_THREADS:-4}
mkdir -p "$out/files"
cp "$from/chat_template.jinja" "$out/files/"
nice "$python" $here/evaluate.py "$from" "$out/before.json" >"$out/before.txt" 2>"$out/before.err" &
evaluation=$!
"$python" $here/train.py "$seconds" "$out/files" "$from" "$rate" "$seed" "$head_seconds" 2>&1 | tee "$out/train.txt"
mv "$out/files/mtp.json" "$out/" 2>/dev/null
# The training writes its own versions of these files; only the weights are new.
cp "$from"/{config.json,generation_config.json,tokenizer.json,model.safetensors.index.json} "$out/files/"
wait $evaluation
"$python" $here/evaluate.py "$out/files" "$out/after.json" "$out/before.json" 2>"$out/after.err" | tee "$out/after.txt"
ls -l "$out/files"
