#!/usr/bin/env bash
# Builds the release so that neither the folder nor the person nor the moment leaves a trace in it: the same lock
# file, toolchain and system libraries give the same bytes. Usage: deploy/release.sh [TARGET_DIRECTORY]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=$(realpath -m "${1:-target/reproducible}")
crates=${CARGO_HOME:-$HOME/.cargo}/registry/src
flags=(
  "--remap-path-prefix=$PWD=/forecourt"
  "--remap-path-prefix=$crates=/crates"
  "--remap-path-prefix=$target=/target"
  "--remap-path-prefix=$(rustc --print sysroot)=/rust"
)
# parted by the unit separator, so that a path may hold a blank
CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f'; echo "${flags[*]}")
export CARGO_ENCODED_RUSTFLAGS
# what C code says of itself (aws-lc, SQLite, mimalloc); escaped, for a path may hold a blank
CFLAGS=$(printf '%q ' "-ffile-prefix-map=$crates=/crates" "-ffile-prefix-map=$target=/target")
export CFLAGS CC_SHELL_ESCAPED_FLAGS=1
# mimalloc says when it was compiled; a container's build has no history to ask for another moment
export SOURCE_DATE_EPOCH=0 CARGO_INCREMENTAL=0 LC_ALL=C TZ=UTC
cargo build --profile dist --locked --target-dir "$target"
sha256sum "$target/dist/forecourt"
