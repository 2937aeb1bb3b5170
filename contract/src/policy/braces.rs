//! Expands `{a,b}` into one pattern for each choice. Knows that a class
//! takes braces and commas literally, and nothing else of what a pattern means.

use std::mem;

use super::error::{MAX_ALTERNATIVES, PatternError};
use super::name::class_body;

/// One `{…}` being read; the outermost one is the whole pattern.
struct Group {
    /// What the alternatives before the last comma stand for.
    finished: Vec<String>,
    /// What the alternative being read stands for so far.
    open: Vec<String>,
}

impl Group {
    fn new() -> Self {
        Self {
            finished: Vec::new(),
            open: vec![String::new()],
        }
    }

    fn push(&mut self, text: &str) {
        for spelling in &mut self.open {
            spelling.push_str(text);
        }
    }

    fn comma(&mut self) {
        self.finished.append(&mut self.open);
        self.open.push(String::new());
    }

    fn close(mut self) -> Result<Vec<String>, PatternError> {
        if self.finished.is_empty() && self.open.iter().all(String::is_empty) {
            return Err(PatternError::NoAlternatives);
        }
        self.finished.append(&mut self.open);
        within_bound(self.finished.len())?;
        Ok(self.finished)
    }

    fn multiply(&mut self, choices: &[String]) -> Result<(), PatternError> {
        // Asked before the product is made: what is refused must cost nothing.
        within_bound(self.open.len() * choices.len())?;
        if ends_in_star(&self.open) && choices.iter().any(|choice| choice.starts_with('*')) {
            return Err(PatternError::Stars);
        }
        self.open = mem::take(&mut self.open)
            .iter()
            .flat_map(|start| choices.iter().map(move |end| format!("{start}{end}")))
            .collect();
        Ok(())
    }
}

fn ends_in_star(spellings: &[String]) -> bool {
    spellings.iter().any(|spelling| spelling.ends_with('*'))
}

fn within_bound(alternatives: usize) -> Result<(), PatternError> {
    if alternatives > MAX_ALTERNATIVES {
        Err(PatternError::TooManyAlternatives)
    } else {
        Ok(())
    }
}

/// Every pattern that `pattern` stands for, in the order its braces list
/// them; at least one. Nesting is kept on the heap, so it may be any depth.
///
/// # Errors
/// For braces that do not pair or are empty, for more than
/// [`MAX_ALTERNATIVES`], for a class that does not end, and where a choice
/// would put two stars side by side: `{a,*}*` must not come to mean `**`.
pub(super) fn expand(pattern: &str) -> Result<Vec<String>, PatternError> {
    let mut outer = Vec::new();
    let mut group = Group::new();
    let mut characters = pattern.chars();
    let mut before = None;
    while let Some(character) = characters.next() {
        match character {
            '[' => {
                let (body, rest) = class_body(characters.as_str())?;
                group.push("[");
                group.push(body);
                group.push("]");
                characters = rest.chars();
            }
            '{' => outer.push(mem::replace(&mut group, Group::new())),
            ',' if !outer.is_empty() => group.comma(),
            '}' => {
                let mut parent: Group = outer.pop().ok_or(PatternError::StrayBrace)?;
                parent.multiply(&group.close()?)?;
                group = parent;
            }
            '*' if before != Some('*') && ends_in_star(&group.open) => {
                return Err(PatternError::Stars);
            }
            other => group.push(other.encode_utf8(&mut [0; 4])),
        }
        before = Some(character);
    }
    if outer.is_empty() {
        Ok(group.open)
    } else {
        Err(PatternError::OpenBrace)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_ALTERNATIVES, PatternError, expand};

    macro_rules! braces {
        ($($name:ident: $text:expr => $expected:expr;)+) => {$(
            #[test]
            fn $name() {
                let expected: Result<&[&str], PatternError> = $expected;
                assert_eq!(expand($text), expected.map(|all| all.iter().map(ToString::to_string).collect()));
            }
        )+};
    }

    braces! {
        none: "a,b" => Ok(&["a,b"]);
        one_choice: "{a}" => Ok(&["a"]);
        choices: "x{a,b}y" => Ok(&["xay", "xby"]);
        an_empty_choice: "x{,a}" => Ok(&["x", "xa"]);
        product: "{a,b}{c,d}" => Ok(&["ac", "ad", "bc", "bd"]);
        nested: "{a,b{c,d}e}f" => Ok(&["af", "bcef", "bdef"]);
        slashes: "{a/b,c}/d" => Ok(&["a/b/d", "c/d"]);
        class_with_brace: "[{]" => Ok(&["[{]"]);
        class_with_comma: "{[,}],b}" => Ok(&["[,}]", "b"]);
        class_with_bracket: "{[]}],[!]}]}" => Ok(&["[]}]", "[!]}]"]);
        open: "{a" => Err(PatternError::OpenBrace);
        open_inside: "{a,{b}" => Err(PatternError::OpenBrace);
        stray: "a}" => Err(PatternError::StrayBrace);
        stray_after: "{a}}" => Err(PatternError::StrayBrace);
        nothing_inside: "a{}" => Err(PatternError::NoAlternatives);
        stars_as_written: "{**,a}/**" => Ok(&["**/**", "a/**"]);
        stars_joined_after: "{a,*}*" => Err(PatternError::Stars);
        stars_joined_before: "*{a,*}" => Err(PatternError::Stars);
        stars_joined_over_nothing: "*{,a}*" => Err(PatternError::Stars);
        stars_joined_inside: "{{a,*}{*,b},c}" => Err(PatternError::Stars);
        stars_apart: "*{a,[*]}*" => Ok(&["*a*", "*[*]*"]);
        class_open: "{[a,b}" => Err(PatternError::OpenClass);
    }

    #[test]
    fn the_bound_counts_what_the_pattern_stands_for() {
        let pairs = |count: usize| expand(&"{a,b}".repeat(count)).map(|all| all.len());
        assert_eq!(pairs(8), Ok(MAX_ALTERNATIVES));
        assert_eq!(pairs(9), Err(PatternError::TooManyAlternatives));
        assert_eq!(pairs(200), Err(PatternError::TooManyAlternatives));
        let list = |count: usize| expand(&format!("{{{}}}", vec!["a"; count].join(",")));
        assert_eq!(list(256).map(|all| all.len()), Ok(MAX_ALTERNATIVES));
        assert_eq!(list(257), Err(PatternError::TooManyAlternatives));
        let half = "{a,b}".repeat(7);
        assert!(expand(&format!("{{{half},{half}}}")).is_ok());
        assert_eq!(
            expand(&format!("{{{half},{half},c}}")),
            Err(PatternError::TooManyAlternatives)
        );
    }

    #[test]
    fn any_depth_of_nesting_is_read() {
        let deep = format!("{}a{}", "{".repeat(500), "}".repeat(500));
        assert_eq!(expand(&deep), Ok(vec!["a".to_owned()]));
    }
}
