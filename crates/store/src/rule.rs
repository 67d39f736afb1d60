//! The tables `rule` and `rule_history`: who may call what, and who said so when.

use rusqlite::params;
use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqlitePool, SqliteRow};
use switchboard_model::{ChangedRule, Effect, Rule, RuleChange, RuleId, RulePart, Timestamp};

use crate::Error;
use crate::agent::meaningless;
use crate::pen::Pen;
use crate::record::RulesRecord;
use crate::rows::{int, uint};

#[cfg(test)]
pub(crate) const SQL: &[&str] = &[PUT, CLEAR, REMEMBER, ALL, AT, LAST, EDITS, HISTORY];

const PUT: &str = "insert into rule (id, caller, provider, capability, effect, created_at, \
     created_by) values (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
     on conflict (caller, provider, capability) do update set id = ?1, effect = ?5, \
     created_at = ?6, created_by = ?7";

const CLEAR: &str = "delete from rule where caller = ? and provider = ? and capability = ?";

const REMEMBER: &str = "insert into rule_history (at, actor, change, caller, provider, \
     capability, effect, edit, rule, before, note, undoes) \
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

const ALL: &str = "select id, caller, provider, capability, effect, created_at, created_by \
     from rule order by id";

/// The rules that the changes up to then came to.
const AT: &str = "select h.rule as id, h.caller, h.provider, h.capability, h.effect, \
     h.at as created_at, h.actor as created_by from rule_history h \
     where h.id in (select max(id) from rule_history where at <= ? \
         group by caller, provider, capability) \
     and h.rule is not null order by h.rule";

const LAST: &str = "select coalesce(max(rule), 0) as rule, coalesce(max(edit), 0) as edit \
     from rule_history";

const EDITS: &str = "select distinct edit from rule_history where edit < ? \
     order by edit desc limit ?";

const HISTORY: &str = "select at, actor, caller, provider, capability, effect, edit, before, note, \
     undoes, (select min(later.edit) from rule_history later where later.undoes = h.edit) \
     as undone_by from rule_history h where edit in (select value from json_each(?)) \
     order by edit desc, id";

/// The rules in force, and the last numbers that were given.
#[derive(Debug, Default)]
pub struct RestoredRules {
    /// In order of their numbers.
    pub rules: Vec<Rule>,
    /// The highest number of a rule ever.
    pub last_rule: u64,
    /// The highest number of a change ever.
    pub last_change: u64,
}

pub(crate) fn apply(pen: &Pen, records: &[RulesRecord]) -> rusqlite::Result<()> {
    let mut remember = pen.statement(REMEMBER)?;
    for RulesRecord { change, made } in records {
        for (edit, rule) in change.edits.iter().zip(made) {
            put_or_clear(pen, edit, rule.as_ref())?;
            let word = if rule.is_some() { "set" } else { "cleared" };
            remember.execute(params![
                change.at.0,
                change.by.as_str(),
                word,
                edit.caller.as_str(),
                edit.provider.as_str(),
                edit.capability.as_str(),
                edit.after.map(Effect::as_str),
                int(change.id),
                rule.as_ref().map(|rule| int(rule.id.0)),
                edit.before.map(Effect::as_str),
                change.note.as_deref(),
                change.undoes.map(int),
            ])?;
        }
    }
    Ok(())
}

fn put_or_clear(pen: &Pen, edit: &ChangedRule, rule: Option<&Rule>) -> rusqlite::Result<()> {
    match rule {
        Some(rule) => pen.statement(PUT)?.execute(params![
            int(rule.id.0),
            rule.caller.as_str(),
            rule.provider.as_str(),
            rule.capability.as_str(),
            rule.effect.as_str(),
            rule.created_at.0,
            rule.created_by.as_str(),
        ])?,
        None => pen.statement(CLEAR)?.execute(params![
            edit.caller.as_str(),
            edit.provider.as_str(),
            edit.capability.as_str(),
        ])?,
    };
    Ok(())
}

/// The rules in force.
pub(crate) async fn restore(connection: &mut SqliteConnection) -> Result<RestoredRules, Error> {
    let rows = sqlx::query(ALL).fetch_all(&mut *connection).await?;
    let rules = rows.iter().map(read).collect::<Result<_, _>>()?;
    let last = sqlx::query(LAST).fetch_one(connection).await?;
    Ok(RestoredRules {
        rules,
        last_rule: uint(last.try_get("rule")?),
        last_change: uint(last.try_get("edit")?),
    })
}

/// The rules that were in force then.
pub(crate) async fn at(
    connection: &mut SqliteConnection,
    at: Timestamp,
) -> Result<Vec<Rule>, Error> {
    sqlx::query(AT).bind(at.0).fetch_all(connection).await?.iter().map(read).collect()
}

fn read(row: &SqliteRow) -> Result<Rule, Error> {
    Ok(Rule {
        id: RuleId(uint(row.try_get("id")?)),
        caller: part(row, "caller")?,
        provider: part(row, "provider")?,
        capability: part(row, "capability")?,
        effect: effect(row.try_get("effect")?)?,
        created_at: Timestamp(row.try_get("created_at")?),
        created_by: row.try_get("created_by")?,
    })
}

/// Changes before `before`, newest first.
pub(crate) async fn history(
    pool: &SqlitePool,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<RuleChange>, Error> {
    let mut snapshot = pool.begin().await?;
    let query = sqlx::query(EDITS).bind(before.map_or(i64::MAX, int)).bind(limit);
    let mut wanted: Vec<i64> = Vec::new();
    for row in query.fetch_all(&mut *snapshot).await? {
        wanted.push(row.try_get("edit")?);
    }
    let list = serde_json::Value::from(wanted).to_string();
    let mut changes: Vec<RuleChange> = Vec::new();
    for row in sqlx::query(HISTORY).bind(list).fetch_all(&mut *snapshot).await? {
        let id = uint(row.try_get("edit")?);
        if changes.last().is_none_or(|last| last.id != id) {
            changes.push(RuleChange {
                id,
                at: Timestamp(row.try_get("at")?),
                by: row.try_get("actor")?,
                note: row.try_get("note")?,
                undoes: row.try_get::<Option<i64>, _>("undoes")?.map(uint),
                undone_by: row.try_get::<Option<i64>, _>("undone_by")?.map(uint),
                edits: Vec::new(),
            });
        }
        let edit = ChangedRule {
            caller: part(&row, "caller")?,
            provider: part(&row, "provider")?,
            capability: part(&row, "capability")?,
            before: row.try_get::<Option<&str>, _>("before")?.map(effect).transpose()?,
            after: row.try_get::<Option<&str>, _>("effect")?.map(effect).transpose()?,
        };
        if let Some(change) = changes.last_mut() {
            change.edits.push(edit);
        }
    }
    Ok(changes)
}

fn part(row: &SqliteRow, column: &str) -> Result<RulePart, Error> {
    let text: &str = row.try_get(column)?;
    RulePart::parse(text).map_err(|_| meaningless("a part of a rule", text))
}

pub(crate) fn effect(text: &str) -> Result<Effect, Error> {
    Effect::parse(text).ok_or_else(|| meaningless("what a rule says", text))
}
