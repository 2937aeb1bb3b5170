"""The tools of preopen-mcp as a library: list them, call them, in wasmtime."""

import json
import secrets
import weakref
from threading import Thread
from time import sleep

from wasmtime import Config, Engine, Store, WasiConfig
from wasmtime.component import Component, Linker, Record

INTERFACE = "preopen:mcp/tools@0.1.0"
MIB = 1 << 20
TICK = 0.1  # seconds between two looks at the time of the calls that run


def record(**fields):
    """A WIT record; its names have dashes where Python has underscores."""
    made = Record()
    for name, value in fields.items():
        setattr(made, name.replace("_", "-"), value)
    return made


class Tools:
    """The tools on one directory, which is all that an instance can name."""

    def __init__(
        self,
        component,
        directory,
        include=("**",),
        exclude=(),
        toolset="core",
        read_only=False,
        cursor_key=None,
        seconds=30,
    ):
        if isinstance(include, str) or isinstance(exclude, str):
            raise TypeError("include and exclude are lists of patterns")
        if cursor_key is not None and len(cursor_key) < 32:
            raise ValueError("a cursor key has at least 32 bytes")
        config = Config()
        config.epoch_interruption = True  # so that a call can be stopped
        self._engine = Engine(config)
        Thread(target=tick, args=(weakref.ref(self._engine),), daemon=True).start()
        self._component = Component.from_file(self._engine, component)
        self._linker = Linker(self._engine)
        self._linker.add_wasip2()
        self._directory = directory
        self._read_only = read_only
        self._seconds = seconds
        self._settings = record(
            toolset=toolset,  # core, workspace or all
            only=[],  # names of tools; none means all of the toolset
            read_only=read_only,
            write_mode="replace",
            limits=record(
                max_file_bytes=100 * MIB,
                max_write_bytes=64 << 10,
                max_result_bytes=48_000,
                max_scan_bytes=64 * MIB,
                max_entries=1_000_000,
                max_depth=64,
                call_timeout=int(seconds * 1000),
            ),
            # Give several processes the same one and they accept each other's cursors.
            cursor_key=cursor_key or secrets.token_bytes(32),
            hash_key=None,  # a key makes the content hashes HMACs
            root_writable=True,
            files_unchanged=False,
            host_hashes=False,
            rules=record(include=list(include), exclude=list(exclude), allow_blocked=False),
        )

    def list(self):
        """The definitions of the tools, as `tools/list` of MCP has them."""
        return json.loads(self._enter("list-tools"))

    def call(self, name, **arguments):
        """Calls a tool: whether it refused, and its answer as text (JSON, in toolset core)."""
        answer = self._enter("call-tool", name, json.dumps(arguments))
        if isinstance(answer, str):  # a call-error: unknown-tool, no-root or bad-rules
            raise LookupError(answer)
        text = answer.structured if answer.text is None else answer.text
        return getattr(answer, "is-error"), text

    def _enter(self, function, *arguments):
        """Calls `function` in an instance of its own, so that no call sees anything of another."""
        store = Store(self._engine)
        store.set_limits(memory_size=512 * MIB)
        # In ticks: each call has its own time, and past it ends as a trap. The component looks at
        # the clock as well, whenever it touches a file, and then says so itself.
        store.set_epoch_deadline(int(self._seconds / TICK) + 2)
        wasi = WasiConfig()
        wasi.preopen_dir(self._directory, "/", not self._read_only)
        store.set_wasi(wasi)
        instance = self._linker.instantiate(store, self._component)
        interface = instance.get_export_index(store, INTERFACE)
        function = instance.get_func(store, instance.get_export_index(store, function, interface))
        answer = function(store, self._settings, *arguments)
        function.post_return(store)
        return answer


def tick(engine):
    """Moves the time by which calls are stopped on, as long as there is the engine."""
    while (running := engine()) is not None:
        running.increment_epoch()
        del running
        sleep(TICK)
