#!/usr/bin/env bash
# Installs Pagoda's dependencies besides Swift; fast if nothing is missing. Usage: Tools/setup.sh [--dev]
# By default only build dependencies; --dev adds those of Tools/test.sh (formatter, make, Python, Chromium, aarch64
# under qemu).
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

setup_debian() {
  local required=(libmicrohttpd-dev pkg-config)
  local tools=(make curl python3 python3-venv chromium clang-format-19 qemu-user g++-12-aarch64-linux-gnu)
  local missing wanted=() package
  mapfile -t missing < <(missing_of "${required[@]}")
  if $dev; then mapfile -t wanted < <(missing_of "${tools[@]}"); fi
  if ((${#missing[@]} + ${#wanted[@]} == 0)); then return; fi

  export DEBIAN_FRONTEND=noninteractive
  as_root apt-get -q update </dev/null
  if ((${#missing[@]})); then as_root apt-get -q install -y --no-install-recommends "${missing[@]}" </dev/null; fi
  # One by one: a release without one of the tools still gets the others, and Tools/test.sh reports what it skips.
  for package in "${wanted[@]}"; do
    as_root apt-get -q install -y --no-install-recommends "$package" </dev/null ||
      echo "setup: $package could not be installed; tests that need it will report that" >&2
  done
}

# The macOS command line tools include make and Python; the layout check runs on Linux.
setup_macos() {
  if ! pkg-config --exists libmicrohttpd 2>/dev/null; then
    command -v brew >/dev/null || { echo "setup: libmicrohttpd is needed: https://brew.sh can install it" >&2; exit 1; }
    brew install --quiet pkgconf libmicrohttpd
  fi
}

need_swift
if [[ $(uname -s) == Darwin ]]; then
  setup_macos
elif command -v apt-get >/dev/null; then
  setup_debian
else
  echo "setup: install libmicrohttpd with its headers, and pkg-config, with this system's package manager" >&2
fi
