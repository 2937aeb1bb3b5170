//! A second reader of JSON (RFC 8259), slow and obvious: one function for each
//! rule of the grammar. It keeps how every value was spelled.

/// Nesting that is read: deeper text is nothing the reader can judge.
const DEPTH: usize = 256;

/// A value and its text.
pub(crate) struct Value<'a> {
    pub(crate) raw: &'a str,
    pub(crate) kind: Kind<'a>,
}

/// What a value is.
pub(crate) enum Kind<'a> {
    Other,
    Array(Vec<Value<'a>>),
    /// As it was spelled.
    Number,
    /// None where an escape names half a character, which no text holds.
    Text(Option<String>),
    Object(Vec<(Option<String>, Value<'a>)>),
}

/// Why there is no value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    NotJson,
    TooDeep,
}

/// Reads the whole of `text` as one value.
pub(crate) fn read(text: &str) -> Result<Value<'_>, Trouble> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(0)?;
    if reader.at == text.len() {
        Ok(value)
    } else {
        Err(Trouble::NotJson)
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, expected: &str) -> bool {
        let found = self.text[self.at..].starts_with(expected);
        self.at += if found { expected.len() } else { 0 };
        found
    }

    fn need(&mut self, expected: &str) -> Result<(), Trouble> {
        if self.eat(expected) {
            Ok(())
        } else {
            Err(Trouble::NotJson)
        }
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// A value with the white space around it, which is not part of its text.
    fn value(&mut self, depth: usize) -> Result<Value<'a>, Trouble> {
        if depth > DEPTH {
            return Err(Trouble::TooDeep);
        }
        self.space();
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => Kind::Object(self.object(depth)?),
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Kind::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ if self.eat("null") || self.eat("true") || self.eat("false") => Kind::Other,
            _ => return Err(Trouble::NotJson),
        };
        let raw = &self.text[start..self.at];
        self.space();
        Ok(Value { raw, kind })
    }

    fn object(&mut self, depth: usize) -> Result<Vec<(Option<String>, Value<'a>)>, Trouble> {
        let mut members = Vec::new();
        self.need("{")?;
        self.space();
        if self.eat("}") {
            return Ok(members);
        }
        loop {
            self.space();
            let name = self.string()?;
            self.space();
            self.need(":")?;
            members.push((name, self.value(depth + 1)?));
            if self.eat("}") {
                return Ok(members);
            }
            self.need(",")?;
        }
    }

    fn array(&mut self, depth: usize) -> Result<Kind<'a>, Trouble> {
        let mut elements = Vec::new();
        self.need("[")?;
        self.space();
        if self.eat("]") {
            return Ok(Kind::Array(elements));
        }
        loop {
            elements.push(self.value(depth + 1)?);
            if self.eat("]") {
                return Ok(Kind::Array(elements));
            }
            self.need(",")?;
        }
    }

    fn digits(&mut self) -> Result<(), Trouble> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at > start {
            Ok(())
        } else {
            Err(Trouble::NotJson)
        }
    }

    fn number(&mut self) -> Result<Kind<'a>, Trouble> {
        self.eat("-");
        if !self.eat("0") {
            self.digits()?;
        }
        if self.eat(".") {
            self.digits()?;
        }
        if self.eat("e") || self.eat("E") {
            let _ = self.eat("+") || self.eat("-");
            self.digits()?;
        }
        Ok(Kind::Number)
    }

    fn string(&mut self) -> Result<Option<String>, Trouble> {
        self.need("\"")?;
        let mut units: Vec<u16> = Vec::new();
        loop {
            let next = self.text[self.at..].chars().next();
            let next = next.ok_or(Trouble::NotJson)?;
            self.at += next.len_utf8();
            match next {
                '"' => return Ok(String::from_utf16(&units).ok()),
                '\0'..='\u{1f}' => return Err(Trouble::NotJson),
                '\\' => units.push(self.escape()?),
                other => units.extend_from_slice(other.encode_utf16(&mut [0; 2])),
            }
        }
    }

    fn escape(&mut self) -> Result<u16, Trouble> {
        let letter = self.peek().ok_or(Trouble::NotJson)?;
        self.at += 1;
        Ok(u16::from(match letter {
            b'"' | b'\\' | b'/' => letter,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let digits = self.text.get(self.at..self.at + 4);
                let digits = digits.filter(|four| four.bytes().all(|b| b.is_ascii_hexdigit()));
                self.at += 4;
                return digits
                    .and_then(|four| u16::from_str_radix(four, 16).ok())
                    .ok_or(Trouble::NotJson);
            }
            _ => return Err(Trouble::NotJson),
        }))
    }
}

impl<'a> Value<'a> {
    /// The text of a string.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => text.as_deref(),
            _ => None,
        }
    }

    /// The members of an object.
    pub(crate) fn members(&self) -> Option<&[(Option<String>, Value<'a>)]> {
        match &self.kind {
            Kind::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The member of that name of an object: the first one.
    pub(crate) fn member(&self, name: &str) -> Option<&Value<'a>> {
        let mut members = self.members()?.iter();
        members
            .find(|(other, _)| other.as_deref() == Some(name))
            .map(|(_, value)| value)
    }
}
