#!/usr/bin/env bash
# Checks that Swift is there, which is all that a build needs, and says if the libraries for image files are missing.
# Usage: Tools/setup.sh [--dev]
# --dev installs what Tools/test.sh needs (libraries for image files, formatter, linter, make, ccache, Python, Chromium, HAProxy, nginx, Caddy, tmux, aarch64 under qemu); fast if
# nothing is missing.
set -euo pipefail

dev=false
case ${1:-} in
  '') ;;
  --dev) dev=true ;;
  *) echo "usage: Tools/setup.sh [--dev]" >&2; exit 64 ;;
esac

# Never installs Swift itself: the choice of toolchain is the user's.
need_swift() {
  command -v swift >/dev/null && return
  cat >&2 <<'TEXT'
setup: `swift` was not found. Pagoda needs Swift 6.3 or newer: https://www.swift.org/install/
       If it is installed, put its bin folder on PATH and run this again.
TEXT
  exit 1
}

is_installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

as_root() { if ((EUID == 0)); then "$@"; else sudo "$@"; fi; }

# The packages of the list that are not installed.
missing_of() {
  local package
  for package in "$@"; do is_installed "$package" || echo "$package"; done
}

images=(libjpeg-dev libpng-dev libwebp-dev)

setup_debian() {
  local tools=("${images[@]}" libssl-dev make ccache curl openssl python3 python3-venv haproxy nginx-light caddy hey openmpi-bin chromium groff ruby fish zsh tmux clang-format-19 clang-tidy-19
    qemu-user g++-12-aarch64-linux-gnu)
  local wanted package
  wanted=$(missing_of "${tools[@]}")
  if [[ -z $wanted ]]; then return; fi

  export DEBIAN_FRONTEND=noninteractive
  # The tests start servers themselves: the packages must not start theirs on this machine.
  local policy=/usr/sbin/policy-rc.d
  if [[ ! -e $policy ]]; then
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
    as_root chmod +x "$policy"
    trap 'as_root rm -f /usr/sbin/policy-rc.d' EXIT
  fi
  as_root apt-get -q update </dev/null
  # A removal by force leaves dependencies unmet; apt then refuses every other package.
  as_root apt-get -q check </dev/null >/dev/null 2>&1 || as_root apt-get -q install -y --fix-broken </dev/null
  # One by one: a release without one of the tools still gets the others, and Tools/test.sh reports what it skips.
  for package in $wanted; do
    as_root apt-get -q install -y --no-install-recommends "$package" </dev/null ||
      echo "setup: $package could not be installed; tests that need it will report that" >&2
  done
}

need_swift
if ! $dev; then
  if command -v dpkg-query >/dev/null && [[ -n $(missing_of "${images[@]}") ]]; then
    echo "setup: image files will be refused; to read them, install $(missing_of "${images[@]}" | paste -s -d ' ' -)"
  fi
  if command -v dpkg-query >/dev/null && ! is_installed libssl-dev; then
    echo "setup: the server will not offer HTTPS; for that, install libssl-dev"
  fi
  exit 0
fi
if [[ $(uname -s) == Darwin ]]; then
  exit 0  # the command line tools include make and Python; the layout check runs on Linux
elif command -v apt-get >/dev/null; then
  setup_debian
else
  echo "setup: install libjpeg, libpng and libwebp with their headers, make, Python 3 with venv, Chromium, clang-format 19 and clang-tidy 19 with this system's package manager" >&2
fi
