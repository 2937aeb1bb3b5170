#!/usr/bin/env bash
# Real clients against the program: the TypeScript and Python ones of both
# lines, installed below target/clients. Prints what each found and a last line
# "N passed, M failed"; what cannot be installed here is skipped, loudly.
#
#     tests/clients/run.sh [PROGRAM]        (default: target/debug/preopen-mcp)
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
program=${1:-$top/target/debug/preopen-mcp}
program=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")
place=$top/target/clients
[ -x "$program" ] || { echo "there is no program $program; build it first"; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sessions=0
passed=0
failed=0
skipped=0

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
    cp "$here"/node/*.mjs "${sources[@]}" "$place/node/"
    fresh "$place/node/.installed" "${sources[@]}" && return
    (cd "$place/node" && npm ci) && cat "${sources[@]}" >"$place/node/.installed"
}

# install_python LINE: the client of that line in an environment of its own.
install_python() {
    local environment=$place/python-$1 wanted=$here/python/requirements-$1.txt
    fresh "$environment/.installed" "$wanted" && return
    rm -rf "$environment"
    python3 -m venv "$environment" &&
        "$environment/bin/pip" install --quiet --disable-pip-version-check --retries 1 -r "$wanted" &&
        cat "$wanted" >"$environment/.installed"
}

# one VERSION SCENARIO ARGUMENT… -- CLIENT…: a session of CLIENT with the
# program started with these arguments, in a new root, which {root} stands for.
one() {
    local version=$1 scenario=$2 arguments=() text status
    shift 2
    sessions=$((sessions + 1))
    local root=$work/$sessions
    mkdir -p "$root/lib"
    printf 'hello\nneedle here\n' >"$root/hello.txt"
    printf "// a\nconst needle = 'käse 🧀';\n" >"$root/lib/a.ts"
    while [ "$1" != -- ]; do
        arguments+=("${1//\{root\}/$root}")
        shift
    done
    shift
    printf '\n%s: %s\n' "${*##*/}" "${arguments[*]//$root/DIR}"

    "$@" "$version" "$here/scenarios/$scenario.json" "$root" "$program" "${arguments[@]}" \
        >"$work/out" 2>"$work/err"
    status=$?
    if [ -s "$work/err" ]; then
        echo "FAILED stderr stays empty: $(tail -n 3 "$work/err" | tr '\n' ' ')" >>"$work/out"
    else
        echo "ok stderr stays empty" >>"$work/out"
    fi
    # The root's path is in the command line of every server that was started.
    if text=$(ps -A -o pid=,args= | grep -Fw -- "$root" | grep -v grep); then
        echo "FAILED no server outlives its client: ${text//$'\n'/; }" >>"$work/out"
    else
        echo "ok no server outlives its client" >>"$work/out"
    fi
    if [ $status -ne 0 ] && ! grep -q '^FAILED' "$work/out"; then
        echo "FAILED the session ends: status $status" >>"$work/out"
    fi
    tally
}

# tally: shows and counts what $work/out reports.
tally() {
    sed 's/^/  /' "$work/out"
    passed=$((passed + $(grep -c '^ok' "$work/out")))
    failed=$((failed + $(grep -c '^FAILED' "$work/out")))
}

core=(--root '{root}' --include '**')
workspace=(workspace -d '{root}')
legacy=2025-11-25
modern=2026-07-28

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    skip "the TypeScript clients" "node and npm are not installed here"
elif ! install_node; then
    skip "the TypeScript clients" "npm cannot install them here (no registry, or a node older than 20)"
else
    v2=(node "$place/node/client-v2.mjs")
    auto=(node "$place/node/client-v2-auto.mjs")
    v1=(node "$place/node/sdk-v1.mjs")
    one $legacy workspace "${workspace[@]}" -- "${v2[@]}"
    one $modern workspace "${workspace[@]}" -- "${auto[@]}"
    one $legacy workspace "${workspace[@]}" --protocol legacy -- "${auto[@]}"
    one $legacy workspace "${workspace[@]}" -- "${v1[@]}"
    one $modern core "${core[@]}" -- "${auto[@]}"
    one refused core "${core[@]}" -- "${v2[@]}"
    one refused core "${core[@]}" -- "${v1[@]}"
fi

if ! command -v python3 >/dev/null || ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
    skip "the Python clients" "python3 with venv is not installed here"
else
    export PYTHONDONTWRITEBYTECODE=1
    if ! install_python v1; then
        skip "the Python client, first line" "pip cannot install it here (no registry, or a Python older than 3.11)"
    else
        v1=("$place/python-v1/bin/python" "$here/python/client_v1.py")
        one $legacy workspace "${workspace[@]}" -- "${v1[@]}"
        one refused core "${core[@]}" -- "${v1[@]}"
    fi
    if ! install_python v2; then
        skip "the Python client, second line" "pip cannot install it here (no registry, or a Python older than 3.11)"
    else
        v2=("$place/python-v2/bin/python" "$here/python/client_v2.py")
        one $modern workspace "${workspace[@]}" -- "${v2[@]}"
        one $legacy workspace "${workspace[@]}" --protocol legacy -- "${v2[@]}"
        one $modern core "${core[@]}" -- "${v2[@]}"
    fi
fi

if ! command -v python3 >/dev/null; then
    skip "the configurations of the manual" "python3 is not installed here"
else
    printf '\nthe configurations of README.md\n'
    python3 "$here/manual.py" "$program" "$top/README.md" >"$work/out" 2>&1 ||
        grep -q '^FAILED' "$work/out" || echo "FAILED the configurations can be tried" >>"$work/out"
    tally
fi

[ $skipped -eq 0 ] || printf '\n#### %d of the clients SKIPPED, see above\n' $skipped
printf '\n%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
