#!/usr/bin/env bash
# The examples that host the component, each on a new directory, installed below
# target/examples-hosts. All do the same and must print the same: what is in
# expected.txt. Prints a last line "N passed, M failed"; what cannot be installed
# here is skipped, loudly.
#
#     examples/run.sh [PROGRAM]        (default: target/debug/preopen-mcp)
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/.." && pwd)
program=${1:-$top/target/debug/preopen-mcp}
place=$top/target/examples-hosts
[ -x "$program" ] || { echo "there is no program $program; build it first"; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
skipped=0

mkdir -p "$place"
component=$place/preopen-guest.wasm
"$program" guest >"$component" || exit 1

skip() {
    printf '\n#### SKIPPED: %s\n#### %s\n' "$1" "$2"
    skipped=$((skipped + 1))
}

# fresh STAMP FILE…: whether STAMP was made for these files as they are now.
fresh() {
    local stamp=$1
    shift
    [ -f "$stamp" ] && cat "$@" | cmp -s - "$stamp"
}

install_node() {
    local sources=("$here/node/package.json" "$here/node/package-lock.json" "$here/node/.npmrc")
    mkdir -p "$place/node"
    cp "$here"/node/*.mjs "${sources[@]}" "$component" "$place/node/"
    fresh "$place/node/.installed" "${sources[@]}" ||
        { (cd "$place/node" && npm ci) && cat "${sources[@]}" >"$place/node/.installed"; } || return
    (cd "$place/node" && npm run --silent transpile)
}

install_python() {
    local environment=$place/python wanted=$here/python/requirements.txt
    fresh "$environment/.installed" "$wanted" && return
    rm -rf "$environment"
    python3 -m venv "$environment" &&
        "$environment/bin/pip" install --quiet --disable-pip-version-check --retries 1 -r "$wanted" &&
        cat "$wanted" >"$environment/.installed"
}

# example NAME COMMAND…: what COMMAND prints; {root} stands for a new directory,
# which has a link in it to a file outside, and one to the directory itself.
example() {
    local name=$1 root command status
    shift
    root=$(mktemp -d -p "$work")/root
    mkdir "$root"
    echo "outside" >"$root/../outside.txt"
    ln -s ../outside.txt "$root/link.txt"
    ln -s . "$root/here"
    command=("${@//\{root\}/$root}")
    "${command[@]}" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    if [ $status -eq 0 ] && [ ! -s "$work/err" ] && diff "$here/expected.txt" "$work/out" >"$work/diff"; then
        echo "ok $name"
        passed=$((passed + 1))
    else
        echo "FAILED $name: status $status"
        cat "$work/diff" "$work/err"
        failed=$((failed + 1))
    fi
}

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    skip "the examples in Node" "node and npm are not installed here"
elif ! install_node; then
    skip "the examples in Node" "npm cannot install them here (no registry, or a node older than 20)"
else
    node=$place/node
    example "Node, as a library" node "$node/library.mjs" '{root}'
    example "Node, as a server" node "$node/client.mjs" node "$node/server.mjs" '{root}' --include '**'
fi

if ! command -v python3 >/dev/null || ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
    skip "the example in Python" "python3 with venv is not installed here"
elif ! install_python; then
    skip "the example in Python" "pip cannot install it here (no registry, or a Python older than 3.9)"
else
    example "Python" "$place/python/bin/python" -B "$here/python/library.py" "$component" '{root}'
fi

cargo build --locked --manifest-path "$top/Cargo.toml" -p preopen-mcp --features compiler --example embed_component || exit 1
example "Rust" "${CARGO_TARGET_DIR:-$top/target}/debug/examples/embed_component" "$component" '{root}'

[ $skipped -eq 0 ] || printf '\n#### %d of the examples SKIPPED, see above\n' $skipped
printf '\n%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
