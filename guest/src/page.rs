//! One page of a reading tool: items that fit the result limit, hashed as they
//! are written, and the cursor to the next page. It knows how the host wraps a
//! result, and nothing of what the items are.

use preopen_contract::json;

use crate::arguments::Arguments;
use crate::bindings::exports::preopen::mcp::tools::Settings;
use crate::cursor::{self, Cursor, Position, Traversal};
use crate::digest::{self, ContentHash, STATE};
use crate::item::{self, Members};
use crate::kept::{self, Kept};
use crate::refusal::Refusal;
use crate::tools::Answer;

/// What the host puts around the two copies of an answer, in bytes, generously: `content`,
/// `structuredContent`, `isError`, `resultType` and the server's name and version in `_meta`.
pub(crate) const ENVELOPE: usize = 512;
const OPEN: &str = r#"{"items":["#;
/// Everything behind the items but the two values.
const CLOSE: &str = r#"],"next_cursor":"","content_hash":""}"#;
/// The longest content hash: `hmac-sha256:` and 64 digits.
const CONTENT_HASH: usize = 76;
/// Room for the items of most pages, in bytes.
const CAPACITY: usize = 4 << 10;

/// The items of one page.
pub(crate) struct Page {
    out: String,
    items: usize,
    max_items: usize,
    /// What the items may still cost, in bytes of the result.
    left: usize,
    hash: ContentHash,
}

/// A page as it was at some point, without its text: see [`Page::rewind`].
pub(crate) struct Mark {
    length: usize,
    items: usize,
    left: usize,
    hash: digest::Mark,
}

impl Page {
    /// A page of at most `max_items` whose result takes at most `max_bytes`.
    fn new(max_items: usize, max_bytes: u64, hash: ContentHash) -> Self {
        let fixed = ENVELOPE + 2 * (cursor::LENGTH + CONTENT_HASH) + cost(OPEN) + cost(CLOSE);
        let mut out = String::with_capacity(CAPACITY);
        out.push_str(OPEN);
        Self {
            out,
            items: 0,
            max_items,
            left: usize::try_from(max_bytes)
                .unwrap_or(usize::MAX)
                .saturating_sub(fixed),
            hash,
        }
    }

    /// Makes room for `bytes` of text at once.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        // Some characters take more than one byte, and each item has names.
        self.out.reserve(bytes + bytes / 8 + CAPACITY);
    }

    /// Appends `item`, and `hashed` to what the content hash is over. False: the item waits for
    /// the next page.
    pub(crate) fn push(&mut self, item: &Members<'_>, hashed: &[&[u8]]) -> bool {
        if self.is_full() {
            return false;
        }
        let before = self.out.len();
        if self.items > 0 {
            self.out.push(',');
        }
        let doubled = item::append(&mut self.out, item);
        // It stands in the structured content, and quoted in the text.
        let cost = 2 * (self.out.len() - before) + doubled;
        let Some(left) = self.left.checked_sub(cost) else {
            self.out.truncate(before);
            return false;
        };
        self.left = left;
        self.items += 1;
        for bytes in hashed {
            self.hash.update(bytes);
        }
        true
    }

    /// The content hash is over these bytes as well.
    pub(crate) fn hash(&mut self, bytes: Vec<u8>) {
        self.hash.take(bytes);
    }

    /// Whether it has as many items as were asked for.
    pub(crate) const fn is_full(&self) -> bool {
        self.items == self.max_items
    }

    /// Where to come back to.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            length: self.out.len(),
            items: self.items,
            left: self.left,
            hash: self.hash.mark(),
        }
    }

    /// Takes back every item since `mark`.
    pub(crate) fn rewind(&mut self, mark: &Mark) {
        self.out.truncate(mark.length);
        self.items = mark.items;
        self.left = mark.left;
        self.hash.rewind(&mark.hash);
    }

    /// The structured answer.
    fn finish(self, next_cursor: Option<&str>) -> Answer {
        let mut out = self.out;
        out.push_str(r#"],"next_cursor":"#);
        match next_cursor {
            Some(cursor) => {
                json::quote(&mut out, cursor);
            }
            None => out.push_str("null"),
        }
        out.push_str(r#","content_hash":""#);
        Answer::structured(out, self.hash)
    }
}

/// What a fixed piece of the answer costs, in both places.
fn cost(piece: &str) -> usize {
    piece.len() + json::quoted_len(piece)
}

/// The part of a call that every reading tool has: which page, of which traversal.
pub(crate) struct Paging<'a> {
    key: &'a [u8],
    traversal: Traversal,
    /// The cursor that was sent: what it says, and its text.
    pub(crate) resume: Option<Cursor>,
    text: Option<&'a str>,
    /// The page that is being filled.
    pub(crate) page: Page,
}

impl<'a> Paging<'a> {
    /// Reads `cursor` and `limit` for the traversal of `tool` over `bound`, its other arguments.
    pub(crate) fn new(
        settings: &'a Settings,
        arguments: &'a Arguments,
        tool: u8,
        bound: &[&str],
        max_items: usize,
    ) -> Result<Self, Refusal> {
        let limit = arguments.limit(max_items)?;
        let text = arguments.string("cursor")?;
        let traversal = Traversal::new(tool, bound);
        let resume = text
            .map(|text| match kept::issued(text, &traversal) {
                Some(cursor) => Ok(cursor),
                None => traversal.read(&settings.cursor_key, text),
            })
            .transpose()?;
        let hash = ContentHash::structured(settings);
        Ok(Self {
            key: &settings.cursor_key,
            traversal,
            resume,
            text,
            page: Page::new(limit, settings.limits.max_result_bytes, hash),
        })
    }

    /// Where this page starts; zeros without a cursor.
    pub(crate) fn start(&self) -> Position {
        self.resume.map_or([0; 3], |cursor| cursor.position)
    }

    /// What this instance kept for this page, and the state that holds for it.
    pub(crate) fn kept(&self) -> Option<([u8; STATE], Kept)> {
        let (state, kept) = kept::take(self.text?)?;
        self.check(state).ok().map(|()| (state, kept))
    }

    /// Fails unless `state` is what the cursor was issued in.
    pub(crate) fn check(&self, state: [u8; STATE]) -> Result<(), Refusal> {
        if self.resume.is_some_and(|cursor| cursor.state != state) {
            return Err(Refusal::Changed);
        }
        Ok(())
    }

    /// The structured answer, if `state` is still what the cursor was issued in. Where no cursor
    /// was sent and none follows nobody depends on the state, and it is not asked for. Where one
    /// follows, what is still to come is kept for it.
    pub(crate) fn finish(
        self,
        state: impl FnOnce() -> [u8; STATE],
        next: Option<(Position, Kept)>,
    ) -> Result<Answer, Refusal> {
        if self.resume.is_none() && next.is_none() {
            return Ok(self.page.finish(None));
        }
        let state = state();
        self.check(state)?;
        let Some((position, rest)) = next else {
            return Ok(self.page.finish(None));
        };
        let cursor = Cursor { state, position };
        let next = self.traversal.issue(self.key, &cursor);
        let answer = self.page.finish(Some(&next));
        kept::keep(next, self.traversal, cursor, rest);
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use preopen_contract::json;
    use proptest::prelude::*;
    use serde_json::Value;

    use super::Page;
    use crate::cursor;
    use crate::digest::ContentHash;
    use crate::item::Value::{Number, Text};
    use crate::tools::Answer;

    fn page(max_items: usize, max_bytes: u64) -> Page {
        Page::new(max_items, max_bytes, ContentHash::new(Some(b"key")))
    }

    fn finished(page: Page, next_cursor: Option<&str>) -> String {
        page.finish(next_cursor).structured.expect("an answer")
    }

    /// The result as the host writes it.
    fn result(structured: &str) -> String {
        let text = json::text(structured);
        format!(
            r#"{{"content":[{{"type":"text","text":{text}}}],"structuredContent":{structured},"isError":false,"resultType":"complete","_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"preopen-mcp","version":"100.100.100"}}}}}}"#
        )
    }

    proptest! {
        #[test]
        fn a_page_stays_below_the_limit_and_drops_nothing(
            items in prop::collection::vec("(?s:.){0,200}", 1..400),
            max_bytes in 32_768_u64..60_000,
        ) {
            let longest = "c".repeat(cursor::LENGTH);
            let mut shown = 0;
            while shown < items.len() {
                let mut page = page(100, max_bytes);
                let fitted = items[shown..].iter().take_while(|item| page.push(&[("text", Text(item))], &[])).count();
                prop_assert!(fitted > 0);
                let structured = finished(page, Some(&longest));
                prop_assert!(result(&structured).len() as u64 <= max_bytes);
                let value: Value = serde_json::from_str(&structured).expect("JSON");
                let texts: Vec<&Value> = value["items"].as_array().expect("items").iter().map(|item| &item["text"]).collect();
                prop_assert_eq!(texts, items[shown..shown + fitted].iter().collect::<Vec<_>>());
                shown += fitted;
            }
        }
    }

    #[test]
    fn the_costliest_item_fits_the_least_limit() {
        let mut page = page(1, 32 * 1024);
        let long = "\u{1}".repeat(1024);
        let item = [
            ("path", Text(&long)),
            ("line", Number(u64::MAX)),
            ("text", Text(&long)),
        ];
        assert!(page.push(&item, &[]));
    }

    #[test]
    fn members_stand_in_order() {
        assert!(
            finished(page(1, 32 * 1024), None)
                .starts_with(r#"{"items":[],"next_cursor":null,"content_hash":"hmac-sha256:"#)
        );
    }

    #[test]
    fn rewinding_leaves_no_trace() {
        rewinding(|| ContentHash::new(Some(b"key")));
        rewinding(|| ContentHash::Left(Vec::new()));
    }

    fn rewinding(hash: impl Fn() -> ContentHash) {
        let page = || Page::new(2, 32 * 1024, hash());
        let mut plain = page();
        plain.push(&[("n", Number(1))], &[b"1"]);
        plain.push(&[("n", Number(3))], &[b"3"]);
        let mut rewound = page();
        rewound.push(&[("n", Number(1))], &[b"1"]);
        let mark = rewound.mark();
        rewound.push(&[("n", Number(2))], &[b"2"]);
        rewound.rewind(&mark);
        rewound.push(&[("n", Number(3))], &[b"3"]);
        assert!(!rewound.push(&[("n", Number(4))], &[]));
        let (rewound, plain) = (rewound.finish(None), plain.finish(None));
        assert_eq!(rewound.structured, plain.structured);
        let content = |answer: Answer| answer.unhashed.map(|unhashed| unhashed.content);
        assert_eq!(content(rewound), content(plain));
    }
}
