#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A stand-in for the command line that the discovery module calls. Scripted by its environment:
#   FAKE_LISTING  the document that `list --devices --json` prints
#   FAKE_LIST     ok (default), fail, hang
#   FAKE_LOG      each check appends its start and end, in nanoseconds, and its arguments
#   FAKE_SECONDS  how long a check takes
#   FAKE_EXIT     the exit code of a check (default 0)
set -eu
case "$1" in
  list)
    case "${FAKE_LIST:-ok}" in
      fail) echo "cannot talk to the driver: version 570.1" >&2; exit 3 ;;
      hang) exec sleep 30 ;;
    esac
    cat "$FAKE_LISTING" ;;
  check)
    start=$(date +%s%N)
    sleep "${FAKE_SECONDS:-0}"
    for argument in "$@"; do printf '[%s]' "$argument" >>"$FAKE_LOG.$$"; done
    printf '%s %s %s\n' "$start" "$(date +%s%N)" "$(cat "$FAKE_LOG.$$")" >>"$FAKE_LOG"
    rm -f "$FAKE_LOG.$$"
    echo "strict=${BANDGATE_STRICT:-0}"
    exit "${FAKE_EXIT:-0}" ;;
  judged)
    echo "arguments: $*"
    [ "${FAKE_EXIT:-0}" != 77 ] || [ "${BANDGATE_STRICT:-0}" = 0 ] || exit 1 ;;
  *) exit 2 ;;
esac
