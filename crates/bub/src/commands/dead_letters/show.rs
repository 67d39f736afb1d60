//! `bub dead-letters show`: one dead letter with its whole life.

mod life;

use std::collections::BTreeMap;

use clap::Args;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use switchboard_model::MessageId;

use super::letter_id;
use crate::failure::Failure;
use crate::output::{self, visible};
use crate::whereabouts::AsOperator;
use life::Life;

/// Show one dead letter: why it died, every attempt, what it carries, what became of it
#[derive(Args)]
pub(super) struct Show {
    /// The dead letter
    #[arg(value_parser = letter_id)]
    id: MessageId,
    /// One JSON document: the row that `list` shows, with its deliveries and their attempts
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(super) async fn run(self, operator: &AsOperator) -> Result<(), Failure> {
        let console = &operator.console()?;
        let detail: Box<RawValue> = console.call("message", json!({"id": self.id})).await?;
        let life: Life = serde_json::from_str(detail.get())?;
        if life.letter.is_none() {
            let state = visible(&life.row.state);
            return Err(Failure::Failed(format!("{} is no dead letter: it is {state}", self.id)));
        }
        if self.json {
            return output::line(&document(&detail, life.attempts())?);
        }
        life.lines().iter().try_for_each(|line| output::line(line))
    }
}

/// The parts of an object, each as it was written.
type Parts = BTreeMap<String, Box<RawValue>>;

/// What `list` says of the letter, and all that is known beside it, in one object.
fn document(detail: &RawValue, attempts: usize) -> Result<String, Failure> {
    #[derive(Deserialize)]
    struct Within {
        row: Parts,
        letter: Parts,
    }
    let Within { row, letter } = serde_json::from_str(detail.get())?;
    let mut whole: Parts = serde_json::from_str(detail.get())?;
    whole.retain(|name, _| name != "row" && name != "letter");
    whole.extend(row);
    whole.extend(letter);
    if let Some(id) = whole.get("id").cloned() {
        whole.insert("messageId".into(), id);
    }
    whole.insert("attempts".into(), to_raw_value(&attempts)?);
    Ok(serde_json::to_string(&whole)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn the_document_has_what_list_says_and_every_attempt_and_keeps_every_digit() {
        let detail = RawValue::from_string(life::tests::DETAIL.to_owned()).unwrap();
        let text = document(&detail, 3).unwrap();
        assert!(text.contains(r#""payload":{"n":12345678901234567890123}"#), "{text}");
        let document: Value = serde_json::from_str(&text).unwrap();
        for name in "id messageId from to topic capability reason attempts diedAt payload \
                     deliveries replayOf replayedAs status"
            .split_whitespace()
        {
            assert!(document.get(name).is_some(), "{name} is missing in {text}");
        }
        assert_eq!(document["messageId"], document["id"]);
        assert_eq!(document["attempts"], 3);
        assert_eq!(document["deliveries"][0]["attempts"][2]["outcome"], "timedOut");
    }
}
