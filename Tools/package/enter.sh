#!/usr/bin/env bash
# Runs a command in another root folder, with nothing of this machine but /proc and two devices. Usage: enter.sh ROOT COMMAND...
# Called by try.sh in a mount namespace of its own.
set -euo pipefail
root=$1
shift
mount --rbind /proc "$root/proc"
for device in null urandom; do mount --bind "/dev/$device" "$root/dev/$device"; done
exec env -i PATH=/usr/bin:/bin HOME=/home LANG=C.UTF-8 HF_ENDPOINT=http://127.0.0.1:9 "$(command -v chroot || echo /usr/sbin/chroot)" "$root" "$@"
