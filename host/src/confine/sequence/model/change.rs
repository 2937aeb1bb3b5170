//! What becomes of entries: made, removed, and put in the place of others, by
//! the component and by somebody else.

use preopen_contract::policy::{Policy, Verdict};
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

use super::super::operation;
use super::super::tree::{Place, Thing, Tree};
use super::super::{Answer, Given};
use super::{Model, changed, is_temporary, join, refuse, thing};

impl Model {
    /// Where an entry is changed, if that may be.
    pub(super) fn change<'a>(
        &self,
        from: usize,
        path: &'a str,
        judge: impl FnOnce(&Policy, &str) -> Verdict,
    ) -> Result<Place<'a>, ErrorCode> {
        let base = self.mutable(from)?;
        let whole = join(base, path)?;
        refuse(judge(&self.policy, &whole))?;
        self.place_below_root(&whole, path)
    }

    /// Where `whole`, which ends in `path`, stands: what changes something is
    /// found from the root, wherever a directory that is held has gone.
    pub(super) fn place_below_root<'a>(
        &self,
        whole: &str,
        path: &'a str,
    ) -> Result<Place<'a>, ErrorCode> {
        let directory = self.tree.place(Tree::ROOT, whole)?.directory;
        let name = path.rsplit('/').next().unwrap_or(path);
        Ok(Place { directory, name })
    }

    /// The error where something of another kind is: it is only spoken of where
    /// that is served.
    fn of_another_kind(
        &self,
        from: usize,
        path: &str,
        judge: impl FnOnce(&Policy, &str) -> Verdict,
        error: ErrorCode,
    ) -> ErrorCode {
        let whole = self.mutable(from).and_then(|base| join(base, path));
        match whole.map(|whole| judge(&self.policy, &whole)) {
            Ok(Verdict::Served) => error,
            _ => ErrorCode::NoEntry,
        }
    }

    pub(super) fn remove_directory(&mut self, from: usize, path: &str) -> Answer {
        let place = self.change(from, path, Policy::directory)?;
        let id = self.tree.at(place)?;
        if !self.tree.is_directory(id) {
            return Err(self.of_another_kind(from, path, Policy::file, ErrorCode::NotDirectory));
        }
        let mut entries = self.tree.entries(id).iter();
        if !entries.all(|(name, id)| self.is_left(name, *id)) {
            return Err(ErrorCode::NotEmpty);
        }
        self.tree.remove_all(place).map(|()| Given::Nothing)
    }

    pub(super) fn unlink(&mut self, from: usize, path: &str) -> Answer {
        let place = self.change(from, path, changed)?;
        if self.tree.is_directory(self.tree.at(place)?) {
            return Err(self.of_another_kind(
                from,
                path,
                Policy::directory,
                ErrorCode::IsDirectory,
            ));
        }
        self.tree.take(place).map(|_| Given::Nothing)
    }

    /// From where to where a temporary goes; `other` for what is none.
    fn placing<'a>(
        &self,
        (from, old): (usize, &'a str),
        (to, new): (usize, &'a str),
        other: ErrorCode,
    ) -> Result<(Place<'a>, Place<'a>), ErrorCode> {
        let (from, to) = (self.mutable(from)?, self.mutable(to)?);
        let (source, target) = (join(from, old)?, join(to, new)?);
        if !is_temporary(&source) {
            return Err(other);
        }
        refuse(changed(&self.policy, &source))?;
        refuse(self.policy.file(&target))?;
        Ok((
            self.place_below_root(&source, old)?,
            self.place_below_root(&target, new)?,
        ))
    }

    pub(super) fn replace(&mut self, from: usize, old: &str, to: usize, new: &str) -> Answer {
        let (source, target) = self.placing((from, old), (to, new), ErrorCode::Unsupported)?;
        match self.tree.at(target) {
            Err(ErrorCode::NoEntry) => {}
            Err(code) => return Err(code),
            Ok(there) => match *self.tree.thing(there) {
                Thing::File { mode: kept, .. } => {
                    let own = self.tree.at(source)?;
                    if let Thing::File { mode, .. } = self.tree.thing_mut(own) {
                        *mode = kept;
                    }
                }
                Thing::Directory(_) => return Err(ErrorCode::IsDirectory),
                Thing::Link(_) | Thing::Pipe => return Err(ErrorCode::NoEntry),
            },
        }
        self.rename(source, target)
    }

    pub(super) fn put(&mut self, from: usize, old: &str, to: usize, new: &str) -> Answer {
        let (source, target) = self.placing((from, old), (to, new), ErrorCode::NotPermitted)?;
        self.tree.at(source)?;
        match self.tree.at(target) {
            Ok(_) => Err(ErrorCode::Exist),
            Err(ErrorCode::NoEntry) => self.rename(source, target),
            Err(code) => Err(code),
        }
    }

    fn rename(&mut self, source: Place<'_>, target: Place<'_>) -> Answer {
        let own = self.tree.at(source)?;
        if self.tree.is_removed(target.directory) {
            return Err(ErrorCode::NoEntry);
        }
        self.tree.take(source)?;
        self.tree.put(target, own);
        Ok(Given::Nothing)
    }

    pub(super) fn appears(&mut self, path: &str, what: operation::Thing) -> Answer {
        let place = self.tree.place(Tree::ROOT, path)?;
        // Whoever else is there uses these names for files alone.
        if is_temporary(path) && !matches!(what, operation::Thing::File) {
            return Err(ErrorCode::Unsupported);
        }
        self.tree.make(place, thing(what))?;
        Ok(Given::Nothing)
    }

    pub(super) fn moves(&mut self, old: &str, new: &str) -> Answer {
        let source = self.tree.place(Tree::ROOT, old)?;
        let target = self.tree.place(Tree::ROOT, new)?;
        let own = self.tree.at(source)?;
        let is_free = self.tree.at(target) == Err(ErrorCode::NoEntry);
        let is_in_itself = self.tree.holds(own, target.directory);
        if !is_free || is_in_itself || is_temporary(new) && !self.tree.is_file(own) {
            return Err(ErrorCode::Unsupported);
        }
        self.rename(source, target)
    }
}
