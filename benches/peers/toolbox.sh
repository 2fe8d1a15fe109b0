#!/usr/bin/env bash
# toolbox.sh PROGRAM PORT DATABASE: MCP Toolbox over the dealer's database.
set -euo pipefail
tools=$(mktemp --suffix=.yaml)
sed "s|DATABASE|$3|" "$(dirname "${BASH_SOURCE[0]}")/toolbox.yaml" >"$tools"
exec "$1" --tools-file "$tools" --address 127.0.0.1 --port "$2"
