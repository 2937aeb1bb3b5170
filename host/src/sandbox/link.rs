//! What a component may import. Each interface is linked only if the component
//! asks for it, and one that is not in this list cannot be had at all: there
//! are no sockets here, no processes and no other file systems.

use wasmtime::Engine;
use wasmtime::component::{Component, HasData, Linker, ResourceTable};
use wasmtime::format_err;
use wasmtime_wasi::WasiView;
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksView};
use wasmtime_wasi::p2::bindings::{cli, clocks, random, sync};
use wasmtime_wasi::random::WasiRandom;

use super::State;
use super::streams::{Lend, Streams};
use super::waiting::Watch;
use crate::confine;

struct Handles;

impl HasData for Handles {
    type Data<'a> = &'a mut ResourceTable;
}

/// Links what `component` imports.
pub(super) fn imports(
    linker: &mut Linker<State>,
    component: &Component,
    engine: &Engine,
) -> wasmtime::Result<()> {
    for (name, _) in component.component_type().imports(engine) {
        let interface = name.split('@').next().unwrap_or(name);
        import(linker, interface)?;
    }
    Ok(())
}

fn import(l: &mut Linker<State>, interface: &str) -> wasmtime::Result<()> {
    fn handles(state: &mut State) -> &mut ResourceTable {
        &mut state.table
    }
    fn streams(state: &mut State) -> Streams<'_> {
        Streams {
            table: &mut state.table,
        }
    }
    match interface {
        "wasi:filesystem/preopens" => confine::link_preopens(l, State::files),
        "wasi:filesystem/types" => confine::link_types(l, State::files),
        "wasi:io/error" => sync::io::error::add_to_linker::<_, Handles>(l, handles),
        "wasi:io/poll" => sync::io::poll::add_to_linker::<_, Lend>(l, streams),
        "wasi:io/streams" => sync::io::streams::add_to_linker::<_, Lend>(l, streams),
        "wasi:clocks/wall-clock" => {
            clocks::wall_clock::add_to_linker::<_, WasiClocks>(l, State::clocks)
        }
        "wasi:clocks/monotonic-clock" => {
            clocks::monotonic_clock::add_to_linker::<_, Watch>(l, |_| Watch)
        }
        "wasi:random/random" => {
            random::random::add_to_linker::<_, WasiRandom>(l, |state| state.ctx().ctx.random())
        }
        "wasi:random/insecure" => {
            random::insecure::add_to_linker::<_, WasiRandom>(l, |state| state.ctx().ctx.random())
        }
        "wasi:random/insecure-seed" => {
            random::insecure_seed::add_to_linker::<_, WasiRandom>(l, |state| {
                state.ctx().ctx.random()
            })
        }
        "wasi:cli/environment" => cli::environment::add_to_linker::<_, WasiCli>(l, State::cli),
        "wasi:cli/exit" => cli::exit::add_to_linker::<_, WasiCli>(l, State::cli),
        "wasi:cli/stdin" => cli::stdin::add_to_linker::<_, Lend>(l, streams),
        "wasi:cli/stdout" => cli::stdout::add_to_linker::<_, Lend>(l, streams),
        "wasi:cli/stderr" => cli::stderr::add_to_linker::<_, Lend>(l, streams),
        "wasi:cli/terminal-input" => {
            cli::terminal_input::add_to_linker::<_, WasiCli>(l, State::cli)
        }
        "wasi:cli/terminal-output" => {
            cli::terminal_output::add_to_linker::<_, WasiCli>(l, State::cli)
        }
        "wasi:cli/terminal-stdin" => {
            cli::terminal_stdin::add_to_linker::<_, WasiCli>(l, State::cli)
        }
        "wasi:cli/terminal-stdout" => {
            cli::terminal_stdout::add_to_linker::<_, WasiCli>(l, State::cli)
        }
        "wasi:cli/terminal-stderr" => {
            cli::terminal_stderr::add_to_linker::<_, WasiCli>(l, State::cli)
        }
        other => Err(format_err!(
            "the component imports {other}, which is not granted"
        )),
    }
}

#[cfg(test)]
mod tests;
