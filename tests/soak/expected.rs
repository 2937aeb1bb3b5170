//! What a request must be answered with, and whether it was.

use serde_json::Value;

use super::contested::Contested;
use super::finding::Found;
use super::listing::Listing;
use super::pages::{Page, Saved};
use crate::harness::{Answer, Message};

/// The answer that must come.
#[derive(Debug)]
pub(super) enum Expected {
    /// The tool refuses, in exactly these words.
    Refused(String),
    /// The tool refuses, in words that begin so; what else there is to do, they may go on with.
    RefusedAs(String),
    /// An error of the protocol, with this code.
    Error(i64),
    /// A result that is no tool's; the harness knows what it looks like.
    Result,
    /// This structured answer, and this text if it is not the structured answer itself.
    Structured {
        value: Value,
        text: Option<String>,
    },
    /// This text, and nothing structured.
    Text(String),
    Page(Page),
    Listing(Listing),
    Found(Found),
    Contested(Contested),
}

impl Expected {
    /// Judges an answer, which the harness has held against the schemas already.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn judge(&self, message: &Message) -> Result<Option<Saved>, String> {
        let json = &message.json;
        match self {
            Self::Error(code) => match json["error"]["code"] == *code {
                true => return Ok(None),
                false => return Err("not that error".to_owned()),
            },
            Self::Result => match json.get("result").is_some() {
                true => return Ok(None),
                false => return Err("an error".to_owned()),
            },
            _ => {}
        }
        let result = &json["result"];
        let Some(said) = result["content"][0]["text"].as_str() else {
            return Err("no answer of a tool".to_owned());
        };
        let answer = Answer(message.clone());
        match (self, result["isError"] == true) {
            (Self::Contested(contested), _) => contested.judge(&answer).map(|()| None),
            (Self::Page(page), _) if page.may_be_stale() => page.judge(&answer),
            (Self::Refused(text), true) if said == text => Ok(None),
            (Self::RefusedAs(text), true) if said.starts_with(text) => Ok(None),
            (Self::Refused(_) | Self::RefusedAs(_), _) => Err("not that refusal".to_owned()),
            (_, true) => Err("refused".to_owned()),
            (Self::Page(page), _) => page.judge(&answer),
            (Self::Listing(listing), _) => listing.judge(&answer).map(|()| None),
            (Self::Found(found), _) => found.judge(&answer).map(|()| None),
            (Self::Text(text), _) => {
                match said == text && result.get("structuredContent").is_none() {
                    true => Ok(None),
                    false => Err("another text".to_owned()),
                }
            }
            (Self::Structured { value, text }, _) => {
                match result["structuredContent"] == *value
                    && text.as_ref().is_none_or(|text| said == text)
                {
                    true => Ok(None),
                    false => Err("another answer".to_owned()),
                }
            }
            (Self::Error(_) | Self::Result, _) => Ok(None),
        }
    }
}
