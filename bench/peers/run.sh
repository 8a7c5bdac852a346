#!/bin/sh
# Installs the peers as pinned, builds Lockgate, runs every case through all of them, and writes docs/comparison.md's tables.
#   bench/peers/run.sh                     everything
#   bench/peers/run.sh --only langchain    one peer; prints what it did, writes nothing
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../.." && pwd)

mkdir -p "$here/.work"
if ! [ -x "$here/.work/venv/bin/python" ]; then
    python3 -m venv "$here/.work/venv"
fi
"$here/.work/venv/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
npm --prefix "$here" ci --no-audit --no-fund --loglevel=error >&2
cargo build --release --manifest-path "$root/Cargo.toml" --package lockgate-cli --package lockgate --bins --example peers

exec "$here/.work/venv/bin/python" "$here/compare.py" "$@"
