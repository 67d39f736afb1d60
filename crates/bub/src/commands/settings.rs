//! `bub settings`: what is set, and changing it.

use bub::Console;
use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::{self, visible};
use crate::table::Table;
use crate::whereabouts::AsOperator;

/// Show the settings and change them, at once where that is possible
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Settings {
    #[command(subcommand)]
    what: Option<What>,
    /// One JSON document
    #[arg(long, global = true)]
    json: bool,
    #[command(flatten)]
    operator: AsOperator,
}

const EXAMPLES: &str = "\
A change is written to switchboard.toml, whose comments stay. What needs a restart says so.

Examples:
  bub settings list
  bub settings set delivery.attempts 5
  bub settings set discovery.interfaces lo,eth0
  bub settings reset delivery.attempts";

#[derive(Subcommand)]
enum What {
    /// Show every setting
    List,
    /// Change a setting
    Set {
        /// Such as delivery.attempts
        #[arg(value_name = "KEY")]
        setting: String,
        /// What it is to be; several, for a list, with commas between them
        value: String,
    },
    /// Let a setting have its default again
    Reset {
        /// Such as delivery.attempts
        #[arg(value_name = "KEY")]
        setting: String,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct View {
    file: String,
    sections: Vec<Section>,
    restart_needed: bool,
    problem: Option<String>,
}

#[derive(Deserialize)]
struct Section {
    settings: Vec<Setting>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Setting {
    key: String,
    kind: Kind,
    value: Value,
    next: Option<Value>,
    default: Value,
    fixed_by: Option<String>,
}

#[derive(Deserialize)]
struct Kind {
    r#type: String,
}

impl Settings {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let console = self.operator.console()?;
        match self.what {
            None | Some(What::List) => list(&console, self.json).await,
            Some(What::Set { setting, value }) => {
                let value = read(&find(&console, &setting).await?, &value);
                change(&console, &setting, value, self.json).await
            }
            Some(What::Reset { setting }) => {
                change(&console, &setting, Value::Null, self.json).await
            }
        }
    }
}

impl View {
    fn setting(&self, key: &str) -> Option<&Setting> {
        self.sections.iter().flat_map(|section| &section.settings).find(|one| one.key == key)
    }
}

async fn list(console: &Console, as_json: bool) -> Result<(), Failure> {
    if as_json {
        let view: Box<RawValue> = console.call("settings", json!({})).await?;
        return output::line(view.get());
    }
    let view: View = console.call("settings", json!({})).await?;
    let settings = view.sections.iter().flat_map(|section| &section.settings);
    let rows: Vec<_> = settings.map(row).collect();
    Table::new(["SETTING", "VALUE", "DEFAULT", ""]).print(&rows)?;
    if let Some(problem) = &view.problem {
        output::note(&visible(problem));
    }
    output::note(&format!("they are in {}", visible(&view.file)));
    Ok(())
}

fn row(setting: &Setting) -> [String; 4] {
    let remark = match (&setting.next, &setting.fixed_by) {
        (_, Some(what)) => format!("fixed by {what}"),
        (Some(next), None) => format!("{next} after a restart"),
        (None, None) => String::new(),
    };
    let usual =
        if setting.value == setting.default { String::new() } else { setting.default.to_string() };
    [
        setting.key.clone(),
        visible(&setting.value.to_string()).into_owned(),
        visible(&usual).into_owned(),
        visible(&remark).into_owned(),
    ]
}

async fn find(console: &Console, key: &str) -> Result<Setting, Failure> {
    let view: View = console.call("settings", json!({})).await?;
    let mut all = view.sections.into_iter().flat_map(|section| section.settings);
    all.find(|one| one.key == key).ok_or_else(|| {
        Failure::Failed(format!("there is no setting {}: see bub settings list", visible(key)))
    })
}

/// What was typed, as a value of the setting's kind; what does not fit goes as text, and is refused with the reason.
fn read(setting: &Setting, typed: &str) -> Value {
    let text = || Value::from(typed);
    match setting.kind.r#type.as_str() {
        "switch" | "number" => serde_json::from_str(typed).unwrap_or_else(|_| text()),
        "list" if typed.trim_start().starts_with('[') => {
            serde_json::from_str(typed).unwrap_or_else(|_| text())
        }
        "list" if typed.is_empty() => json!([]),
        "list" => typed.split(',').map(str::trim).collect(),
        _ => text(),
    }
}

async fn change(console: &Console, key: &str, value: Value, as_json: bool) -> Result<(), Failure> {
    let changes = json!({"changes": [{"key": key, "value": value}]});
    let view: View = console.call("editSettings", changes).await?;
    let Some(setting) = view.setting(key) else {
        return Err(Failure::Failed(format!("there is no setting {}", visible(key))));
    };
    let (value, waits) = (setting.next.as_ref().unwrap_or(&setting.value), setting.next.is_some());
    if as_json {
        let told = json!({"key": key, "value": value, "restartNeeded": waits});
        return output::line(&told.to_string());
    }
    let when = if waits { "after a restart" } else { "now" };
    output::line(&format!("{key} is {} {when}", visible(&value.to_string())))?;
    if view.restart_needed {
        output::note("some changes wait for a restart: bub restart");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_becomes_a_value_of_the_settings_kind() {
        let of = |kind: &str, typed: &str| {
            let kind = Kind { r#type: kind.to_owned() };
            let value = Value::Null;
            let setting = Setting {
                key: String::new(),
                kind,
                value: value.clone(),
                next: None,
                default: value,
                fixed_by: None,
            };
            read(&setting, typed)
        };
        assert_eq!(of("number", "5"), json!(5));
        assert_eq!(of("number", "five"), json!("five"));
        assert_eq!(of("switch", "true"), json!(true));
        assert_eq!(of("text", "5"), json!("5"));
        assert_eq!(of("choice", "full"), json!("full"));
        assert_eq!(of("list", "lo, eth0"), json!(["lo", "eth0"]));
        assert_eq!(of("list", "[\"a,b\"]"), json!(["a,b"]));
        assert_eq!(of("list", ""), json!([]));
    }
}
