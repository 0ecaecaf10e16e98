# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts of this folder; sourced, with `program` set to the name they report under.
set -euo pipefail
# One language for every message that is searched, and no surprises from the caller's aliases.
export LC_ALL=C.UTF-8
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/.venv

step() { printf '%s: %s\n' "$program" "$*"; }
fail() {  # EXIT_CODE MESSAGE...
  local code=$1
  shift
  printf '%s: %s\n' "$program" "$*" >&2
  exit "$code"
}

# The nvcc to use, empty where there is none: the one of the caller, the system's, else the wheels'.
find_nvcc() {
  local candidate
  for candidate in "${CUDACXX:-}" "$(command -v nvcc || true)" /usr/local/cuda/bin/nvcc \
    "$venv"/lib/python3*/site-packages/nvidia/cu13/bin/nvcc; do
    if [ -n "$candidate" ] && [ -x "$candidate" ]; then
      printf '%s\n' "$candidate"
      return
    fi
  done
}

# Volta (sm_70) left the toolkit with CUDA 13; ci/setup unpacks a compiler of CUDA 12 here.
volta_toolkit=$venv/cuda12

# The nvcc that compiles for sm_70, empty where there is none. Asked, not told by its version.
find_volta_nvcc() {
  local candidate
  for candidate in "$(find_nvcc)" /usr/local/cuda-12*/bin/nvcc "$volta_toolkit/bin/nvcc"; do
    if [ -x "$candidate" ] && [[ $("$candidate" --list-gpu-code 2>/dev/null) == *sm_70* ]]; then
      printf '%s\n' "$candidate"
      return
    fi
  done
}

# Whether ci/setup can unpack that compiler here: it comes from Debian's archive, and takes no g++
# newer than 13. Where it can, ci/test fails without it.
volta_installable() {
  [ "$(uname -m)" = x86_64 ] && command -v apt-get >/dev/null 2>&1 &&
    grep -qx 'ID=debian' /etc/os-release && [ "$(g++ -dumpversion)" -le 13 ]
}

# Whether ci/setup can install a HIP compiler here. Where it can, ci/test fails without it.
hip_installable() {
  [ "$(uname -m)" = x86_64 ] && command -v apt-get >/dev/null 2>&1 &&
    grep -qx 'ID=debian' /etc/os-release
}

# Whether the program may find a GPU driver here, working or not.
gpu_driver() {
  local folder
  local -a folders
  # `grep -q` would end the pipe early, which pipefail takes for a failure.
  compgen -G '/dev/nvidia*' >/dev/null || [ -e /proc/driver/nvidia/version ] ||
    ldconfig -p 2>/dev/null | grep 'libcuda\.so\.1' >/dev/null && return 0
  IFS=: read -ra folders <<<"${LD_LIBRARY_PATH:-}"
  for folder in "${folders[@]}" /usr/local/nvidia/lib64 /usr/local/nvidia/lib \
    /run/opengl-driver/lib /usr/lib/wsl/lib; do
    [ -z "$folder" ] || [ ! -e "$folder/libcuda.so.1" ] || return 0
  done
  return 1
}

# Configures, quietly unless it fails.
configure() {
  local log
  log=$(mktemp)
  if ! (cd "$root" && cmake "$@") >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    fail 2 "configuring failed: cmake $*"
  fi
  rm -f "$log"
}
