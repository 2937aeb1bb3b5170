//! The arguments of a call: tolerant where that is harmless (null is absent,
//! `"5"` and `5.0` are 5), strict everywhere else. An argument that is given
//! twice, unknown or of another type is refused by name.

use std::fmt;
use std::ops::{Range, RangeInclusive};

use preopen_contract::path::RelPath;
use preopen_contract::quoted::{self, Brief};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::value::RawValue;

use crate::refusal::Refusal;

/// The longest query, in bytes.
pub(crate) const MAX_QUERY_BYTES: usize = 256;
/// The most elements a list has.
pub(crate) const MAX_LIST: usize = 64;
/// How much of an unknown argument's name its refusal repeats, in characters.
const SHOWN_NAME: usize = 64;

/// The arguments by name; null ones are left out.
#[derive(Debug, PartialEq)]
pub(crate) struct Arguments {
    members: Vec<(&'static str, Argument)>,
    /// What [`Argument::Long`] says, which is UTF-8.
    long: Vec<u8>,
}

impl Arguments {
    /// Reads the text of a JSON object whose members are among `known`. The memory of `text`
    /// becomes that of a long argument: it may be as long as what is to be written.
    pub(crate) fn parse(text: String, known: &'static [&'static str]) -> Result<Self, Refusal> {
        let brief = Brief::of_json(&text);
        let members = match read(brief.text(), known, Some(&brief)) {
            Ok(object) => object,
            // Where it is wrong, the whole says.
            Err(_) => read(&text, known, None).map_err(|error| {
                if error.is_data() {
                    Refusal::NotAnObject
                } else {
                    Refusal::NotJson(error.to_string())
                }
            })?,
        }
        .checked(known)?;
        let long = members.iter().find_map(|(_, value)| match value {
            Argument::Long(content) => Some(content.clone()),
            _ => None,
        });
        let long = match long {
            None => Vec::new(),
            Some(content) => quoted::unescaped(text.into_bytes(), content)
                .ok_or_else(|| Refusal::NotJson("invalid escape in a string".to_owned()))?,
        };
        Ok(Self { members, long })
    }

    fn get(&self, name: &str) -> Option<&Argument> {
        let (_, value) = self.members.iter().find(|(given, _)| *given == name)?;
        Some(value)
    }

    /// What an argument says, if that is text.
    fn text<'a>(&'a self, value: &'a Argument) -> Option<&'a str> {
        match value {
            Argument::Text(text) => Some(text),
            Argument::Long(_) => str::from_utf8(&self.long).ok(),
            _ => None,
        }
    }

    /// A string that may be absent.
    pub(crate) fn string(&self, name: &'static str) -> Result<Option<&str>, Refusal> {
        match self.get(name) {
            None => Ok(None),
            Some(value) => match self.text(value) {
                None => Err(Refusal::NotAString(name)),
                text => Ok(text),
            },
        }
    }

    /// A string that must be there.
    pub(crate) fn required(&self, name: &'static str) -> Result<&str, Refusal> {
        self.string(name)?.ok_or(Refusal::Required(name))
    }

    /// The bytes of a string that must be there; they are UTF-8.
    pub(crate) fn content(&self, name: &'static str) -> Result<&[u8], Refusal> {
        match self.get(name) {
            Some(Argument::Long(_)) => Ok(&self.long),
            _ => self.required(name).map(str::as_bytes),
        }
    }

    /// What is looked for: one line of 1 to [`MAX_QUERY_BYTES`].
    pub(crate) fn query(&self, name: &'static str) -> Result<&str, Refusal> {
        let query = self.required(name)?;
        if query.is_empty() || query.len() > MAX_QUERY_BYTES || query.contains('\n') {
            return Err(Refusal::Query(name));
        }
        Ok(query)
    }

    /// `path`; absent, it is the root.
    pub(crate) fn path(&self) -> Result<RelPath, Refusal> {
        Ok(RelPath::parse(self.string("path")?.unwrap_or_default())?)
    }

    /// `path` where a file is asked for: it must be there.
    pub(crate) fn file_path(&self) -> Result<RelPath, Refusal> {
        Ok(RelPath::parse(self.required("path")?)?)
    }

    /// A boolean that is false where it is absent. Nothing else is taken for one: it may decide
    /// what is destroyed.
    pub(crate) fn strict_boolean(&self, name: &'static str) -> Result<bool, Refusal> {
        match self.get(name) {
            None => Ok(false),
            Some(Argument::Boolean(value)) => Ok(*value),
            Some(_) => Err(Refusal::NotABoolean(name)),
        }
    }

    /// A boolean where the wrong one does no harm: `"true"` and `"false"` are taken for one.
    pub(crate) fn boolean(&self, name: &'static str, default: bool) -> Result<bool, Refusal> {
        match self.get(name) {
            None => Ok(default),
            Some(Argument::Boolean(value)) => Ok(*value),
            Some(Argument::Text(text)) if text == "true" => Ok(true),
            Some(Argument::Text(text)) if text == "false" => Ok(false),
            Some(_) => Err(Refusal::NotABoolean(name)),
        }
    }

    /// An integer, clamped to `range`.
    pub(crate) fn clamped(
        &self,
        name: &'static str,
        default: usize,
        range: RangeInclusive<usize>,
    ) -> Result<usize, Refusal> {
        let Some(value) = self.get(name) else {
            return Ok(default);
        };
        let value = self.integer(value).ok_or(Refusal::NotAnInteger(name))?;
        let value = usize::try_from(value.max(0)).unwrap_or(usize::MAX);
        Ok(value.clamp(*range.start(), *range.end()))
    }

    /// At most [`MAX_LIST`] strings; a single string is a list of one.
    pub(crate) fn strings(&self, name: &'static str) -> Result<Vec<&str>, Refusal> {
        match self.get(name) {
            None => Ok(Vec::new()),
            Some(Argument::List(texts)) => Ok(texts.iter().map(String::as_str).collect()),
            Some(value) => match self.text(value) {
                Some(text) => Ok(vec![text]),
                None => Err(Refusal::NotAList(name)),
            },
        }
    }

    /// `limit`: clamped to `maximum`, which is also its default.
    pub(crate) fn limit(&self, maximum: usize) -> Result<usize, Refusal> {
        let Some(value) = self.get("limit") else {
            return Ok(maximum);
        };
        let limit = self.integer(value).ok_or(Refusal::NotAnInteger("limit"))?;
        if limit < 1 {
            return Err(Refusal::LimitBelowOne);
        }
        Ok(usize::try_from(limit).map_or(maximum, |limit| limit.min(maximum)))
    }

    /// An integer as models send it; one too large for an i64 is the nearest that fits.
    fn integer(&self, value: &Argument) -> Option<i64> {
        if let Argument::Integer(number) = value {
            return Some(*number);
        }
        let text = self.text(value)?;
        let digits = text.strip_prefix('-').unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let saturated = if digits == text { i64::MAX } else { i64::MIN };
        Some(text.parse().unwrap_or(saturated))
    }
}

/// Reads an object; of a `brief`, what was left out of it is not said, but where it stands.
fn read(
    text: &str,
    known: &'static [&'static str],
    brief: Option<&Brief<'_>>,
) -> serde_json::Result<Object> {
    let mut json = serde_json::Deserializer::from_str(text);
    let brief = brief.filter(|brief| brief.is_shorter());
    let object = Known { known, brief }.deserialize(&mut json)?;
    json.end().map(|()| object)
}

fn shortened(name: &str) -> String {
    match name.char_indices().nth(SHOWN_NAME) {
        Some((at, _)) => format!("{}…", &name[..at]),
        None => name.to_owned(),
    }
}

/// What an argument can be; what no argument is, is kept by its kind alone.
#[derive(Debug, PartialEq)]
enum Argument {
    Null,
    Boolean(bool),
    Text(String),
    /// The text that was left out of a brief: where it stands in the whole.
    Long(Range<usize>),
    /// An integer, the nearest that fits for one too large.
    Integer(i64),
    /// A list of at most [`MAX_LIST`] strings.
    List(Vec<String>),
    /// Any other list, an object, or a number that is no integer.
    Other,
}

impl<'de> Deserialize<'de> for Argument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Argument;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a JSON value")
            }

            fn visit_unit<E>(self) -> Result<Argument, E> {
                Ok(Argument::Null)
            }

            fn visit_bool<E>(self, value: bool) -> Result<Argument, E> {
                Ok(Argument::Boolean(value))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Argument, E> {
                Ok(Argument::Integer(number))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Argument, E> {
                Ok(Argument::Integer(i64::try_from(number).unwrap_or(i64::MAX)))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Argument, E> {
                // A cast from a float saturates.
                Ok(match number.fract() == 0.0 {
                    true => Argument::Integer(number as i64),
                    false => Argument::Other,
                })
            }

            fn visit_str<E>(self, text: &str) -> Result<Argument, E> {
                Ok(Argument::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Argument, A::Error> {
                let mut texts = Some(Vec::new());
                while let Some(element) = list.next_element()? {
                    texts = match (texts, element) {
                        (Some(mut texts), Argument::Text(text)) if texts.len() < MAX_LIST => {
                            texts.push(text);
                            Some(texts)
                        }
                        _ => None,
                    };
                }
                Ok(texts.map_or(Argument::Other, Argument::List))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Argument, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Argument::Other)
            }
        }

        deserializer.deserialize_any(Any)
    }
}

/// The members of a JSON object that are known, and the first of each kind of fault.
#[derive(Default)]
struct Object {
    members: Vec<(&'static str, Argument)>,
    duplicate: Option<&'static str>,
    unknown: Option<String>,
}

impl Object {
    /// The members that say something, if none is there twice or unknown.
    fn checked(mut self, known: &[&str]) -> Result<Vec<(&'static str, Argument)>, Refusal> {
        if let Some(name) = self.duplicate {
            return Err(Refusal::Duplicate(name));
        }
        if let Some(name) = self.unknown {
            let known = known.join(", ");
            return Err(Refusal::Unknown { name, known });
        }
        self.members.retain(|(_, value)| *value != Argument::Null);
        Ok(self.members)
    }
}

/// Reads an object with these members.
struct Known<'a> {
    known: &'static [&'static str],
    /// What it is read from, if something was left out there.
    brief: Option<&'a Brief<'a>>,
}

impl Known<'_> {
    fn value<'de, A: MapAccess<'de>>(&self, map: &mut A) -> Result<Argument, A::Error> {
        let Some(brief) = self.brief else {
            return map.next_value();
        };
        let part = map.next_value::<&RawValue>()?.get();
        match brief.content(part) {
            Some(content) => Ok(Argument::Long(content)),
            None => serde_json::from_str(part).map_err(A::Error::custom),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Known<'_> {
    type Value = Object;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Object, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Known<'_> {
    type Value = Object;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
        let mut object = Object::default();
        while let Some(name) = map.next_key_seed(Name(self.known))? {
            let name = match name {
                Ok(name) => name,
                Err(unknown) => {
                    object.unknown.get_or_insert(unknown);
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            if object.members.iter().any(|(given, _)| *given == name) {
                object.duplicate.get_or_insert(name);
                map.next_value::<IgnoredAny>()?;
            } else {
                object.members.push((name, self.value(&mut map)?));
            }
        }
        Ok(object)
    }
}

/// Reads a member's name: one of these, or as much of another one as is shown.
struct Name(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Result<&'static str, String>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name {
    type Value = Result<&'static str, String>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        let known = self.0.iter().find(|known| **known == name);
        Ok(known.copied().ok_or_else(|| shortened(name)))
    }
}

#[cfg(test)]
mod tests;
