# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What healthcheck, prolog, epilog and resume share: configuration, logging, a lock, a time limit
# that also holds where a process cannot be killed, and the measurement. docs/slurm.md explains it.

# The environment of slurmd's programs holds next to nothing.
PATH=${PATH:-/usr/bin:/bin}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
umask 022
program=${0##*/}

log() {  # PRIORITY MESSAGE...
  local priority=$1
  shift
  printf '%s: %s\n' "$program" "$*" >&2
  timeout -k 1 2 logger -t "bandgate-$program" -p "daemon.$priority" -- "$*" 2>/dev/null || :
}

# Lines NAME=VALUE, read and never run. What the environment sets is left as it is.
read_configuration() {
  local file=${BANDGATE_SLURM_CONF:-/etc/bandgate/slurm.conf} line name
  [ -e "$file" ] || return 0
  [ ! -d "$file" ] || { log err "$file: is a folder; nothing is configured" && return 0; }
  while IFS= read -r line || [ -n "$line" ]; do
    line=${line%$'\r'}
    [[ $line =~ ^[[:space:]]*(#.*)?$ ]] && continue
    name=${line%%=*}
    if ! [[ $line == *=* && $name =~ ^(BANDGATE[A-Z_]*|SLURM_CONF)$ ]]; then
      log err "$file: not understood and passed over: $line"
      continue
    fi
    line=${line#*=}
    [[ $line == \"*\" ]] && line=${line:1:-1}
    [ -n "${!name+set}" ] || export "$name=$line"
  done <"$file"
}

seconds_of() {  # 90, 90s, 45m, 26h, 3d; fails for anything else
  [[ $1 =~ ^([0-9]{1,6})([smhd]?)$ ]] || return
  case ${BASH_REMATCH[2]} in
    m) printf '%d' $((10#${BASH_REMATCH[1]} * 60)) ;;
    h) printf '%d' $((10#${BASH_REMATCH[1]} * 3600)) ;;
    d) printf '%d' $((10#${BASH_REMATCH[1]} * 86400)) ;;
    *) printf '%d' $((10#${BASH_REMATCH[1]})) ;;
  esac
}

set_up() {
  read_configuration
  bandgate=${BANDGATE:-bandgate}
  suite=${BANDGATE_SLURM_SUITE:-quick}
  limit=$(seconds_of "${BANDGATE_SLURM_LIMIT:-40s}") || limit=0
  if ((limit < 1)); then
    log err "BANDGATE_SLURM_LIMIT=$BANDGATE_SLURM_LIMIT: write seconds, such as 40s; 40s it is"
    limit=40
  fi
  # For one measurement, and for a look without load; the program is given a little more.
  attempt=$((limit < 8 ? 1 : limit / 4))
  # shellcheck disable=SC2034
  glance=$((attempt < 6 ? attempt : 6))
  if ! every=$(seconds_of "${BANDGATE_SLURM_EVERY:-1h}"); then
    log err "BANDGATE_SLURM_EVERY=$BANDGATE_SLURM_EVERY: write 90s, 45m, 26h or 3d; 1h it is"
    every=3600
  fi
  # Devices are named to the program, which finds all: what hides some from it goes.
  visible=${CUDA_VISIBLE_DEVICES:-}
  numbers=${SLURM_JOB_GPUS:-${visible:-${GPU_DEVICE_ORDINAL:-}}}
  unset CUDA_VISIBLE_DEVICES GPU_DEVICE_ORDINAL ROCR_VISIBLE_DEVICES HIP_VISIBLE_DEVICES
  export BANDGATE_RESULTS=${BANDGATE_RESULTS:-/var/lib/bandgate/results}
  node=${SLURMD_NODENAME:-$(hostname -s)}
  # Several slurmd on one machine have a folder each.
  state=${BANDGATE_SLURM_STATE:-/var/lib/bandgate/slurm}/$node
  if ! { mkdir -p "$state/measured" "$state/marks" "$BANDGATE_RESULTS" &&
    work=$(mktemp -d "$state/.run.XXXXXX") && exec 9>>"$state/lock"; }; then
    log err "$state: cannot be written; nothing is looked at"
    return 1
  fi
  trap 'rm -rf "$work"' EXIT
  # Of those that were killed.
  find "$state" -maxdepth 1 -name '.run.*' -mmin +60 -exec rm -rf {} + 2>/dev/null
  # Whatever is started here ends with its script, however that ends.
  launch=(setsid)
  ! command -v setpriv >/dev/null || launch+=(setpriv --pdeathsig KILL)
}

write_state() {  # NAME TEXT: in one step
  printf '%s\n' "$2" >"$work/state" && mv -f "$work/state" "$state/$1"
}

running() { kill -0 "$1" 2>/dev/null; }

ended_within() {  # PID SECONDS
  local left=$(($2 * 20))
  while running "$1"; do
    ((left-- > 0)) || return
    sleep 0.05
  done
}

# The start of a process, by which its number is known not to be another's by now.
started() { cut -d ' ' -f 22 "/proc/$1/stat" 2>/dev/null; }

# Runs a command for at most so long; what it said is in $work/out, its exit code in $code, which is
# 124 where it did not end. timeout(1) would wait for a process that the kernel does not let die.
bounded() {  # SECONDS COMMAND...
  local seconds=$1
  shift
  "${launch[@]}" "$@" >"$work/out" 2>"$work/err" </dev/null 9>&- &
  child=$!
  if ended_within "$child" "$seconds"; then
    wait "$child"
    code=$?
  else
    stop_child
    code=124
  fi
  child=
}

stop_child() {
  [ -n "${child:-}" ] || return 0
  kill -TERM -- "-$child" 2>/dev/null
  ended_within "$child" 1 && return
  kill -KILL -- "-$child" 2>/dev/null
  ended_within "$child" 1 && return
  write_state stuck "$child $(started "$child")"
}

# Whether a process that an earlier call could not kill is still there: then the device hangs, and
# one more process would only hang beside it.
is_stuck() {
  local pid since
  [ -e "$state/stuck" ] && read -r pid since <"$state/stuck" || return
  [ -n "$since" ] && [ "$(started "$pid")" = "$since" ] && return
  rm -f "$state/stuck"
  return 1
}

# Where a job is not known, nothing is looked at: whatever ends with another code drains the node.
know_job() {
  [[ ${SLURM_JOB_ID:-} =~ ^[0-9]+$ ]] && return
  log err "SLURM_JOB_ID=${SLURM_JOB_ID:-}: is no job; nothing is looked at"
  return 1
}

# The devices of the job, as --device takes them; nothing where it has no GPU. Slurm's numbers are
# the minor numbers of the device files; which card that is, the driver says.
job_devices() {
  local number file found=
  case $visible in
    GPU-* | MIG-*) printf '%s' "$visible" && return ;;
  esac
  [[ $numbers =~ ^[0-9]+(,[0-9]+)*$ ]] || return 0
  for number in ${numbers//,/ }; do
    for file in /proc/driver/nvidia/gpus/*/information; do
      if grep -qsE "^Device Minor:[[:space:]]*$number\$" "$file"; then
        file=${file%/information}
        number=${file##*/}
        break
      fi
    done
    found+=${found:+,}$number
  done
  printf '%s' "$found"
}

first_line() { LC_ALL=C sed -n '1{s/[[:cntrl:]]/ /g;p;q}' "$1"; }

# What the exit code $code says: $verdict is 0 (judged, fine), 1 or 3 (bad), else nobody knows. $said
# is one line that begins with "bandgate:".
interpret() {  # WHAT_RAN
  said=$(first_line "$work/out")
  verdict=$code
  case $code in
    0)
      case $said in
        'bandgate: not judged'*) verdict=4 ;;
        'bandgate: '*) ;;
        *) verdict=4 said="bandgate: not judged: $1 ended with 0 and said nothing of a device" ;;
      esac ;;
    1 | 3) [[ $said == 'bandgate: '* ]] || said="bandgate: $1 ended with $code${said:+: $said}" ;;
    124) said="bandgate: not judged: $1 did not end in time" ;;
    *) said="bandgate: not judged: $1 ended with $code: ${said:-$(first_line "$work/err")}" ;;
  esac
}

# Measures, judges and stores; sets $verdict and $said.
measure() {  # DEVICES
  local before=$SECONDS
  if is_stuck; then
    verdict=3
    said="bandgate: a process of an earlier check hangs in the kernel and cannot be killed"
    return
  fi
  bounded "$limit" "$bandgate" check --suite "$suite" --device "$1" \
    --format nhc --time-limit "${attempt}s" --wait-idle 0s
  interpret check
  ((code == 124)) || return 0
  # What was measured until then is stored. An error among it is one; a loss that no second process
  # confirmed is none.
  bounded 3 "$bandgate" status --max-age "$((SECONDS - before + 1))s" --format nhc
  if ((code == 3)); then
    interpret check
  else
    verdict=124
  fi
}

record() {  # DEVICES: what the last measurement said
  local name
  write_state verdict "$(printf 'time=%s\nby=%s\nverdict=%s\nsaid=%s' \
    "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$program" "$verdict" "$said")"
  for name in ${1//,/ }; do
    # What was not found well is looked at again at the next opportunity.
    name=$state/measured/${name//\//_}
    if ((verdict == 0)); then : >"$name"; else rm -f "$name"; fi
  done
  if ((verdict != 0)); then rm -f "$state/measured/all"; fi
}

measured_lately() {  # NAME
  local at
  at=$(stat -c %Y "$state/measured/${1//\//_}" 2>/dev/null) && (($(date +%s) - at < every))
}

all_measured_lately() {  # DEVICES
  local name
  measured_lately all && return
  for name in ${1//,/ }; do measured_lately "$name" || return; done
}

# A job comes before a look at an idle node: whoever measures there is told to stop.
stop_healthcheck() {
  local pid since
  flock -n 9 && flock -u 9 && return
  { read -r pid since <"$state/healthcheck.pid"; } 2>/dev/null || return
  [ -n "$since" ] && [ "$(started "$pid")" = "$since" ] || return
  log info "stopping the health check: a job begins"
  kill -TERM "$pid" 2>/dev/null
  flock -w 6 9 && flock -u 9
}

# A bad verdict around a job: the exit code drains the node. Slurm calls that "Epilog error"; the
# health check puts what is left here in its place, since a reason needs a command of Slurm.
drain_by_exit_code() {
  log crit "job ${SLURM_JOB_ID:-?}: $said; the node is drained"
  write_state pending "$said"
  exit 1
}
