//! How a handle comes to be and how it ends, and whose turn it is in a
//! directory where files are replaced.

use preopen_contract::policy::Verdict;
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;
use wasmtime_wasi::p2::bindings::sync::filesystem::types::{DescriptorFlags, OpenFlags};

use super::super::operation::Operation;
use super::super::tree::{Id, Place, Thing, Tree};
use super::{
    Held, MUTATE, Model, READ, Turn, Unfinished, WRITE, changed, is_temporary, join, refuse,
};

impl Model {
    pub(super) fn open(
        &mut self,
        from: usize,
        path: &str,
        flags: OpenFlags,
        rights: DescriptorFlags,
    ) -> Result<Held, ErrorCode> {
        let is_to_enter = flags == OpenFlags::DIRECTORY && [READ, READ | MUTATE].contains(&rights);
        let is_of_a_file = [READ, WRITE, READ | WRITE].contains(&rights);
        let makes = flags == OpenFlags::CREATE | OpenFlags::EXCLUSIVE && rights.contains(WRITE);
        if is_to_enter {
            self.enter(from, path, rights)
        } else if is_of_a_file && flags == OpenFlags::empty() {
            self.open_file(from, path, rights)
        } else if is_of_a_file && makes {
            self.make_file(from, path, rights)
        } else {
            Err(ErrorCode::Unsupported)
        }
    }

    fn enter(&self, from: usize, path: &str, rights: DescriptorFlags) -> Result<Held, ErrorCode> {
        let base = match rights.contains(MUTATE) {
            true => self.mutable(from)?,
            false => self.directory(from)?,
        };
        let whole = match path {
            "." => base.path.clone(),
            _ => join(base, path)?,
        };
        refuse(self.policy.directory(&whole))?;
        let id = match path {
            "." => base.id,
            _ => self.tree.find(base.id, path)?,
        };
        if !self.tree.is_directory(id) {
            let is_shown = self.tree.is_file(id) && self.policy.file(&whole) == Verdict::Served;
            return Err(if is_shown {
                ErrorCode::NotDirectory
            } else {
                ErrorCode::NoEntry
            });
        }
        Ok(Held {
            id,
            path: whole,
            rights,
            unfinished: None,
        })
    }

    fn open_file(
        &self,
        from: usize,
        path: &str,
        rights: DescriptorFlags,
    ) -> Result<Held, ErrorCode> {
        let base = match rights.contains(WRITE) {
            true => self.mutable(from)?,
            false => self.directory(from)?,
        };
        let whole = join(base, path)?;
        refuse(self.policy.file(&whole))?;
        // What may be changed is found from the root.
        let id = match rights.contains(WRITE) {
            true => self.tree.find(Tree::ROOT, &whole)?,
            false => self.tree.find(base.id, path)?,
        };
        if !self.tree.is_file(id) {
            let is_shown =
                self.tree.is_directory(id) && self.policy.directory(&whole) == Verdict::Served;
            return Err(if is_shown {
                ErrorCode::IsDirectory
            } else {
                ErrorCode::NoEntry
            });
        }
        Ok(Held {
            id,
            path: whole,
            rights,
            unfinished: None,
        })
    }

    fn make_file(
        &mut self,
        from: usize,
        path: &str,
        rights: DescriptorFlags,
    ) -> Result<Held, ErrorCode> {
        let base = self.mutable(from)?;
        let whole = join(base, path)?;
        refuse(changed(&self.policy, &whole))?;
        let place = self.place_below_root(&whole, path)?;
        let turn = is_temporary(path).then(|| self.take_turn(place.directory));
        let content = Vec::new();
        let id = self.tree.make(
            place,
            Thing::File {
                content,
                mode: 0o600,
            },
        )?;
        Ok(Held {
            id,
            path: whole.clone(),
            rights,
            unfinished: Some(Unfinished {
                base: Tree::ROOT,
                name: whole,
                turn,
            }),
        })
    }

    fn take_turn(&mut self, directory: Id) -> Turn {
        if let Some(turn) = self.turn
            && turn.directory == directory
            && self.turns_held().any(|held| held == turn)
        {
            return turn;
        }
        if directory != Tree::ROOT {
            self.sweep(directory);
        }
        self.turns += 1;
        let turn = Turn {
            number: self.turns,
            directory,
        };
        self.turn = Some(turn);
        turn
    }

    /// Removes what was left in a directory.
    fn sweep(&mut self, directory: Id) {
        let entries = self.tree.entries(directory).clone();
        for (name, id) in &entries {
            if self.is_left(name, *id) {
                let place = Place { directory, name };
                self.tree.take(place).expect("it is there");
            }
        }
    }

    fn turns_held(&self) -> impl Iterator<Item = Turn> {
        let unfinished = self.held.iter().filter_map(|held| held.unfinished.as_ref());
        unfinished.filter_map(|unfinished| unfinished.turn)
    }

    /// Whether an operation would wait for a lock that a handle of another
    /// turn holds.
    pub(in super::super) fn waits(&self, operation: &Operation) -> bool {
        let Operation::Open(from, path, _, _) = operation else {
            return false;
        };
        let base = self.held(*from).id;
        if !is_temporary(path) || !self.tree.is_directory(base) {
            return false;
        }
        let Ok(place) = self.tree.place(base, path) else {
            return false;
        };
        let is_mine = |turn: &Turn| self.turn == Some(*turn);
        let mut locks = self
            .turns_held()
            .filter(|turn| turn.directory == place.directory);
        locks.any(|turn| !is_mine(&turn))
    }

    pub(super) fn drop(&mut self, held: &Held) {
        let Some(unfinished) = &held.unfinished else {
            return;
        };
        if let Ok(place) = self.tree.place(unfinished.base, &unfinished.name)
            && self.tree.at(place) == Ok(held.id)
        {
            let taken = self.tree.take(place);
            assert_eq!(taken, Ok(held.id));
        }
    }
}
