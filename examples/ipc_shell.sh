#!/bin/sh
# Drive an agent over the IPC with jq: one message, every permission denied, the answer printed.
#
#     sh examples/ipc_shell.sh "think about boats"
#
# FLYBRIDGE_AGENT chooses the agent, FLYBRIDGE the program.

set -eu
pipes=$(mktemp -d)
trap 'rm -rf "$pipes"' EXIT
mkfifo "$pipes/in" "$pipes/out"
"${FLYBRIDGE:-flybridge}" ipc --new --agent "${FLYBRIDGE_AGENT:-demo}" \
  <"$pipes/in" >"$pipes/out" &
exec 3>"$pipes/in" 4<"$pipes/out"

printf '%s\n' '{"type":"protocol_init","version":1}' >&3
jq -cn --arg text "${1:-hello}" '{type: "user_message", text: $text}' >&3
while IFS= read -r line <&4; do
  case $(printf '%s\n' "$line" | jq -r .type) in
  assistant_text)
    printf '%s\n' "$line" | jq -r 'select(.is_partial | not) | .text'
    ;;
  control_request_forward)
    printf '%s\n' "$line" | jq -c '{type: "tool_approval", request_id, decision: "deny"}' >&3
    ;;
  turn_complete)
    exec 3>&- # it ends the agent, and then itself
    ;;
  esac
done
wait
