#!/usr/bin/env bash
# Runs the program in a folder that holds nothing but itself, its libraries and its configuration, as the image of
# deploy/Dockerfile does: not root, over a root that it cannot write, with one data folder. Needs root for chroot.
# Usage: bare.sh BINARY
set -euo pipefail
binary=$1
root=$(mktemp -d)
serving=
end() {
  [ -z "$serving" ] || kill "$serving" 2>/dev/null || true
  rm -rf "$root"
}
trap end EXIT
mkdir -p "$root"/{bin,etc/forecourt,data,tmp}
cp "$binary" "$root/bin/forecourt"
# what the loader says that it needs, the loader included
ldd "$binary" | grep -oE '/[^ ]+' | while read -r library; do
  mkdir -p "$root$(dirname "$library")"
  cp -L "$library" "$root$library"
done
cat >"$root/etc/forecourt/forecourt.toml" <<'T'
[server]
listen = "127.0.0.1:0"
[data]
directory = "/data"
T
cp "$(dirname "$0")/dealer.toml" "$root/etc/forecourt/"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
admin=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
chown 65532:65532 "$root/data"
chmod -R go+rX "$root"
set_up=(--set "server.listen=127.0.0.1:$port" --set "server.admin_listen=127.0.0.1:$admin" --config /etc/forecourt)
run() { chroot --userspec=65532:65532 "$root" /bin/forecourt "$@" "${set_up[@]}"; }
run check --offline
# no function here: the signal must reach the program itself
chroot --userspec=65532:65532 "$root" /bin/forecourt serve "${set_up[@]}" 2>"$root/log" &
serving=$!
for _ in $(seq 200); do
  run healthcheck >/dev/null 2>&1 && break
  kill -0 "$serving" 2>/dev/null || { cat "$root/log"; exit 1; }
done
run healthcheck
curl -fsS -H 'Host: dealer.example' "http://127.0.0.1:$port/llms.txt" | grep 'Example Motors' >/dev/null
curl -fsS "http://127.0.0.1:$admin/metrics" | grep forecourt_build_info >/dev/null
[ "$(stat -c %u "$root/data/keys")" = 65532 ]
kill -TERM "$serving"
wait "$serving"
serving=
echo "bare: $(find "$root" -name '*.so*' | wc -l) libraries, $(stat -c %s "$binary") bytes, ended with 0"
