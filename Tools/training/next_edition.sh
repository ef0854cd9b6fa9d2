#!/bin/bash
# Trains the next edition from the present files: next_edition.sh SECONDS HEAD_SECONDS OUT [RATE [SEED]]. SEED chooses the
# chats: 600000 was the last one of the fifth edition, so take 700000 for the sixth. With SECONDS = 0 only the multi-token-prediction layer is trained.
# Needs one CUDA GPU and no network. OUT/files has the model folder (usable after every minute), OUT/*.txt the tables.
set -u
cd "$(dirname "$0")/../.."
seconds=$1 head_seconds=$2 out=$3 rate=${4:-0.5} seed=${5:-400000}
from=${FROM:-Sources/MiniModel/files} here=Tools/training python=${PYTHON:-python3}
export HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1 TOKENIZERS_PARALLELISM=false OMP_NUM_THREADS=${OMP_NUM_THREADS:-4}
mkdir -p "$out/files"
cp Sources/MiniModel/files/chat_template.jinja "$out/files/"
"$python" $here/train.py "$seconds" "$out/files" "$from" "$rate" "$seed" "$head_seconds" 2>&1 | tee "$out/train.txt"
mv "$out/files/mtp.json" "$out/" 2>/dev/null
"$python" $here/evaluate_pictures.py "$out/files" "$out/pictures.json" 2>"$out/pictures.err" | tee "$out/pictures.txt"
"$python" $here/evaluate.py "$out/files" "$out/after.json" 2>"$out/after.err" | tee "$out/after.txt"
ls -l "$out/files"
