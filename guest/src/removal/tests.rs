//! Removal on a tree in memory that counts what is open and can be made to
//! fail, to hide something, or to grow again.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::rc::Rc;

use super::{BATCH, Removable, Stop, empty, look};
use crate::refusal::Refusal;
use crate::tree::{Directory, Entry, Fault, Kind, Wanted};
use crate::walk::Bounds;

/// What all directories of a tree share.
#[derive(Default)]
struct World {
    open: Cell<usize>,
    most_open: Cell<usize>,
}

type Names = Rc<RefCell<BTreeMap<String, Node>>>;

enum Node {
    /// A file, a link, or a file that cannot be removed.
    File,
    Link,
    Stuck,
    /// Listed as a directory, and gone when it is opened.
    Ghost,
    Directory(Names),
}

/// An open directory. The name `*` stands for something that is not shown.
struct Open {
    world: Rc<World>,
    names: Names,
}

impl Open {
    fn new(world: &Rc<World>, names: &Names) -> Self {
        world.open.set(world.open.get() + 1);
        world
            .most_open
            .set(world.most_open.get().max(world.open.get()));
        Self {
            world: Rc::clone(world),
            names: Rc::clone(names),
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.world.open.set(self.world.open.get() - 1);
    }
}

impl Directory for Open {
    fn entries(
        &self,
        _: Wanted,
        each: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<(), Fault> {
        let names = self.names.borrow();
        let shown = names.iter().filter(|(name, _)| *name != "*");
        let mut entries: Vec<Entry<'_>> = shown
            .map(|(name, node)| Entry {
                name,
                kind: match node {
                    Node::File | Node::Stuck => Kind::File,
                    Node::Link => Kind::Other,
                    Node::Ghost | Node::Directory(_) => Kind::Directory,
                },
            })
            .collect();
        if names.contains_key("*") {
            entries.push(Entry {
                name: "",
                kind: Kind::Other,
            });
        }
        // Stops where it is told to.
        let _ = entries.into_iter().try_for_each(each);
        Ok(())
    }

    fn directory(&self, name: &str) -> Result<Self, Fault> {
        self.enter(name)
    }
}

impl Removable for Open {
    fn enter(&self, name: &str) -> Result<Self, Fault> {
        match self.names.borrow().get(name) {
            Some(Node::Directory(names)) => Ok(Self::new(&self.world, names)),
            Some(Node::File | Node::Stuck) => Err(Fault::NotDirectory),
            Some(Node::Link | Node::Ghost) | None => Err(Fault::Missing),
        }
    }

    fn unlink(&self, name: &str) -> Result<(), Fault> {
        let mut names = self.names.borrow_mut();
        match names.get(name) {
            None => Err(Fault::Missing),
            Some(Node::Ghost | Node::Directory(_)) => Err(Fault::IsDirectory),
            Some(Node::Stuck) => Err(Fault::Permission),
            Some(Node::File | Node::Link) => {
                names.remove(name);
                Ok(())
            }
        }
    }

    fn remove_directory(&self, name: &str) -> Result<(), Fault> {
        let mut names = self.names.borrow_mut();
        match names.get(name) {
            Some(Node::Directory(below)) if !below.borrow().is_empty() => Err(Fault::NotEmpty),
            Some(Node::Directory(_)) => {
                names.remove(name);
                Ok(())
            }
            Some(_) => Err(Fault::NotDirectory),
            None => Err(Fault::Missing),
        }
    }
}

/// A tree of files, directories (`a/`), links (`a@`), files that cannot be removed (`a!`),
/// directories that cannot be opened (`a?`), and what is not shown (`*`).
fn tree(paths: &[&str]) -> Names {
    let top = Names::default();
    for path in paths {
        let mut at = Rc::clone(&top);
        let mut rest = *path;
        while let Some((name, below)) = rest.split_once('/') {
            let next = match at
                .borrow_mut()
                .entry(name.to_owned())
                .or_insert_with(|| Node::Directory(Names::default()))
            {
                Node::Directory(names) => Rc::clone(names),
                _ => panic!("{name} is no directory"),
            };
            at = next;
            rest = below;
        }
        let node = match rest.chars().last() {
            Some('@') => Node::Link,
            Some('!') => Node::Stuck,
            Some('?') => Node::Ghost,
            Some(_) => Node::File,
            None => continue,
        };
        at.borrow_mut().insert(rest.to_owned(), node);
    }
    top
}

fn looked(names: &Names, bounds: &mut Bounds) -> Result<(), Refusal> {
    look(Open::new(&Rc::default(), names), bounds, &|| false)
}

fn emptied(names: &Names) -> (Result<(), Stop>, u64) {
    let mut removed = 0;
    let result = empty(Open::new(&Rc::default(), names), 64, &mut removed, &|| {
        false
    });
    (result, removed)
}

#[test]
fn everything_goes_and_is_counted() {
    let names = tree(&["a", "b/c/d", "b/c/e@", "b/f/", "g@", "h/i/j/k/l"]);
    assert_eq!(looked(&names, &mut Bounds::new(12, 4)), Ok(()));
    assert_eq!(emptied(&names), (Ok(()), 12));
    assert!(names.borrow().is_empty());
}

#[test]
fn what_is_not_shown_is_found_at_any_depth() {
    for paths in [&["a", "*"][..], &["a/b", "a/c/d/*", "e/"]] {
        let names = tree(paths);
        assert_eq!(
            looked(&names, &mut Bounds::new(99, 64)),
            Err(Refusal::HoldsHidden)
        );
        // What appeared after that is not lost either.
        let (result, _) = emptied(&names);
        assert_eq!(result, Err(Stop::Hidden));
        assert!(!names.borrow().is_empty());
    }
}

#[test]
fn a_look_is_bounded() {
    let names = tree(&["a/b/c", "d"]);
    assert_eq!(looked(&names, &mut Bounds::new(4, 2)), Ok(()));
    assert_eq!(
        looked(&names, &mut Bounds::new(3, 2)),
        Err(Refusal::TooManyEntries(3))
    );
    assert_eq!(
        looked(&names, &mut Bounds::new(4, 1)),
        Err(Refusal::TooDeep(1))
    );
    let result = look(
        Open::new(&Rc::default(), &names),
        &mut Bounds::new(4, 2),
        &|| true,
    );
    assert_eq!(result, Err(Refusal::TooMuchToRemove));
}

#[test]
fn directories_are_open_only_along_one_path() {
    let wide: Vec<String> = (0..50).map(|name| format!("d{name}/e/f")).collect();
    let wide: Vec<&str> = wide.iter().map(String::as_str).collect();
    let names = tree(&wide);
    let world = Rc::default();
    let open = Open::new(&world, &names);
    look(open, &mut Bounds::new(999, 64), &|| false).expect("all is shown");
    empty(Open::new(&world, &names), 64, &mut 0, &|| false).expect("all goes");
    assert_eq!((world.most_open.get(), world.open.get()), (3, 0));
}

#[test]
fn more_than_one_batch_goes_too() {
    let many: Vec<String> = (0..3 * BATCH + 1).map(|name| name.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let names = tree(&many);
    assert_eq!(emptied(&names), (Ok(()), 3 * BATCH as u64 + 1));
}

#[test]
fn the_end_of_the_time_ends_it_with_what_is_gone() {
    let names = tree(&["a", "b", "c"]);
    let left = Cell::new(3);
    let mut removed = 0;
    let result = empty(Open::new(&Rc::default(), &names), 64, &mut removed, &|| {
        left.set(left.get() - 1);
        left.get() == 0
    });
    assert_eq!((result, removed), (Err(Stop::Late), 1));
    assert_eq!(names.borrow().len(), 2);
}

#[test]
fn an_error_ends_it_with_what_is_gone() {
    // The last of a batch is the first that goes.
    let names = tree(&["a!", "b", "c"]);
    let (result, removed) = emptied(&names);
    assert_eq!((result, removed), (Err(Stop::Fault(Fault::Permission)), 2));
    let refusal = Stop::Fault(Fault::Permission).refusal(removed);
    assert_eq!(
        refusal.to_string(),
        "not all of it is removed: 2 entries were, then the operating system did not allow the next; call again to go on"
    );
    let one = Stop::Fault(Fault::Permission).refusal(1).to_string();
    assert!(one.starts_with("not all of it is removed: 1 entry was, then"));
    assert_eq!(
        Stop::Fault(Fault::Permission).refusal(0),
        Refusal::NotRemovable
    );
}

#[test]
fn what_never_goes_does_not_keep_it_for_ever() {
    let names = tree(&["a?", "b"]);
    assert_eq!(emptied(&names), (Err(Stop::Fault(Fault::Other)), 1));
}

#[test]
fn a_tree_that_grew_deeper_is_not_followed() {
    let names = tree(&["a/b/c/d"]);
    let mut removed = 0;
    let open = Open::new(&Rc::default(), &names);
    let result = empty(open, 2, &mut removed, &|| false);
    assert_eq!((result, removed), (Err(Stop::Deep), 0));
}
