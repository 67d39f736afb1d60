//! What can be known of a schema before it is compiled: which part leads to which.
//!
//! A part leads on in place (`allOf`, `$ref` …), to be asked of the same value, or deeper, to be asked of
//! a value inside it. Questions in place must come to an end and stay few; questions that go deeper end
//! with the value, but must not be asked again and again on the way.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{InvalidSchema, MAX_BYTES, MAX_LEVELS, MAX_PATTERNS, Size, patterns};

/// The longest way from part to part in place.
const MAX_CHAIN: usize = 64;
/// The most parts that may be asked of one value from one part on.
const MAX_ASKED: u64 = 1000;
/// The most parts that may be asked of one value altogether.
const MAX_REPEATED: u64 = 100_000;
/// The same, where parts come round to themselves. What the validator remembers of them then keeps the
/// work from growing with the depth of the value, but it does not remember all.
const MAX_REPEATED_AROUND: u64 = 4096;
/// The most parts there may be if each is counted wherever something leads to it.
const MAX_UNFOLDED: u64 = 100_000;
/// How much more a part may be asked that comes round to itself; found by trial.
const AROUND: u64 = 64;
/// How much longer than a plain question it takes to look at one entry of a list of objects, at one dependency, to
/// divide by a fraction, and to compare a value with all others; found by trial.
const LISTED: usize = 8;
const DEPENDENT: usize = 5;
const DIVIDED: usize = 1000;
const UNIQUE: usize = 20;
/// The longest way from part to part at all, before it comes round again.
const MAX_WAY: usize = 1024;

/// The drafts that are known, without the `#` at the end and the scheme at the beginning.
const DRAFTS: [&str; 5] = [
    "json-schema.org/draft-04/schema",
    "json-schema.org/draft-06/schema",
    "json-schema.org/draft-07/schema",
    "json-schema.org/draft/2019-09/schema",
    "json-schema.org/draft/2020-12/schema",
];

/// What a check has to know of the schema to stay within bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outline {
    /// How long the longest way in place is, in parts.
    pub(super) chain: usize,
    /// How often one value inside may be asked about, each time that the value around it is.
    branching: u64,
    /// How much work one value may be altogether, in questions that are answered at once.
    pub(super) work: u64,
    /// Whether a part comes round to itself, deeper in the value.
    pub(super) recursive: bool,
    /// How many regular expressions there are; a text may be looked through by each.
    pub(super) patterns: usize,
    /// The same as `work`, if nothing comes round.
    once: u64,
    /// How many names are asked for: each that is missing is a fault.
    names: u64,
    /// Whether one of several parts may be enough.
    alternatives: bool,
}

/// What it takes to say why a value does not fit.
pub(super) struct Explaining {
    /// How many faults there can be.
    pub(super) all: u64,
    /// How many questions lead to the first of them.
    pub(super) first: u64,
}

impl Outline {
    /// Reads a schema; refuses what is too large, refers outside, or could take forever.
    pub(super) fn of(schema: &Value) -> Result<Self, InvalidSchema> {
        let mut document = Document::default();
        // Depth first: what follows goes down by recursion.
        document.collect(schema, None, 1)?;
        if schema.to_string().len() > MAX_BYTES {
            return Err(InvalidSchema::TooLarge);
        }
        let parts: Vec<Part> =
            (0..document.parts.len()).map(|at| document.part(at)).collect::<Result<_, _>>()?;
        let known = vec![Progress::New; parts.len()];
        let in_place = InPlace { parts: &parts, known, chain: 1, branching: 1 };
        let known = vec![Progress::New; parts.len()];
        let mut walk = Walk { parts: &parts, in_place, known, recursive: false };
        let below = if parts.is_empty() { Below::ROUND } else { walk.go(0, 1)? };
        // A schema of several documents is compiled anew for each way that leads to a part.
        let copied = document.resources.len() > 1 && below.unfolded > MAX_UNFOLDED;
        let recursive = walk.recursive;
        let most = if recursive { MAX_REPEATED_AROUND } else { MAX_REPEATED };
        if copied || below.repeated > most {
            return Err(InvalidSchema::TooInvolved);
        }
        let InPlace { chain, branching, .. } = walk.in_place;
        let work = below.work.saturating_mul(if recursive { AROUND } else { 1 });
        Ok(Self {
            chain,
            branching,
            work,
            recursive,
            patterns: document.patterns,
            once: below.work,
            names: document.names,
            alternatives: document.alternatives,
        })
    }

    /// What it would take to say why a value of this size does not fit. To ask whether it fits remembers what was asked
    /// before; to ask why does not.
    pub(super) fn explaining(&self, size: Size) -> Explaining {
        let levels = u32::try_from(size.levels).unwrap_or(u32::MAX);
        let repeats = if self.recursive { self.branching.saturating_pow(levels) } else { 1 };
        let asked = (size.values as u64).saturating_mul(repeats);
        let all = asked.saturating_mul(self.once.saturating_add(self.names));
        // That a value fits none of several parts is one fault, with all of theirs in it.
        let first = if self.alternatives { u64::MAX } else { asked.saturating_mul(self.once) };
        Explaining { all, first }
    }
}

/// All objects of a schema, and the names by which they refer to each other.
#[derive(Default)]
struct Document<'a> {
    /// Each object, and the resource that it belongs to.
    parts: Vec<(&'a Map<String, Value>, usize)>,
    /// Where an object stands in `parts`.
    places: HashMap<*const Map<String, Value>, usize>,
    /// The whole, and each part with an `$id` of its own: its address and itself.
    resources: Vec<(String, &'a Value)>,
    /// Named parts: the resource, the name, the part.
    anchors: Vec<(usize, &'a str, usize)>,
    patterns: usize,
    /// What it takes to read them.
    pattern_cost: u64,
    names: u64,
    alternatives: bool,
}

/// One object: what it leads to.
struct Part {
    in_place: Vec<usize>,
    deeper: Vec<usize>,
    /// How often the values inside are asked about by this object itself.
    entries: u64,
    /// Whether it asks the parts in place again to know what they looked at.
    asks_again: bool,
    /// How much longer it takes than a question that is answered at once.
    weight: u64,
}

impl<'a> Document<'a> {
    fn collect(
        &mut self,
        value: &'a Value,
        resource: Option<usize>,
        level: usize,
    ) -> Result<(), InvalidSchema> {
        let inner = level + 1;
        match value {
            Value::Array(_) | Value::Object(_) if level > MAX_LEVELS => Err(InvalidSchema::TooDeep),
            Value::Array(items) => {
                items.iter().try_for_each(|item| self.collect(item, resource, inner))
            }
            Value::Object(object) => {
                let resource = self.register(value, object, resource)?;
                object.values().try_for_each(|value| self.collect(value, Some(resource), inner))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }

    /// Takes an object in; returns the resource that what is inside belongs to.
    fn register(
        &mut self,
        value: &'a Value,
        object: &'a Map<String, Value>,
        around: Option<usize>,
    ) -> Result<usize, InvalidSchema> {
        let text = |key: &str| object.get(key).and_then(Value::as_str);
        if let Some(draft) = text("$schema") {
            let address = draft.strip_suffix('#').unwrap_or(draft);
            let bare = address.strip_prefix("http://").or(address.strip_prefix("https://"));
            if !bare.is_some_and(|bare| DRAFTS.contains(&bare)) {
                return Err(InvalidSchema::UnknownDraft(draft.to_owned()));
            }
        }
        let keys = object.get("patternProperties").and_then(Value::as_object);
        let keys = keys.into_iter().flat_map(Map::keys).map(String::as_str);
        for pattern in text("pattern").into_iter().chain(keys) {
            self.patterns += 1;
            if pattern.len() > MAX_BYTES {
                return Err(InvalidSchema::TooLarge);
            }
            if self.patterns > MAX_PATTERNS {
                return Err(InvalidSchema::TooManyPatterns);
            }
            self.pattern_cost = self.pattern_cost.saturating_add(patterns::cost(pattern));
            if self.pattern_cost > patterns::MAX_COST {
                return Err(InvalidSchema::CostlyPatterns);
            }
        }
        self.names += names(object);
        self.alternatives |= object.contains_key("anyOf") || object.contains_key("oneOf");
        // Draft 4 says `id`, where others would mean data by it.
        let id = text("$id").or_else(|| self.is_draft_4(object).then(|| text("id")).flatten());
        let (address, fragment) = id.map(split).unwrap_or_default();
        let resource = match (around, address) {
            (Some(around), "") => around,
            (around, address) => {
                let base = around.and_then(|around| self.resources.get(around));
                let base = base.map_or("", |(base, _)| base);
                self.resources.push((joined(base, address), value));
                self.resources.len() - 1
            }
        };
        let place = self.parts.len();
        self.parts.push((object, resource));
        self.places.insert(std::ptr::from_ref(object), place);
        let named = [Some(fragment), text("$anchor"), text("$dynamicAnchor")];
        for name in named.into_iter().flatten().filter(|name| !name.is_empty()) {
            self.anchors.push((resource, name, place));
        }
        Ok(resource)
    }

    fn is_draft_4(&self, object: &Map<String, Value>) -> bool {
        let root = self.parts.first().map_or(object, |(root, _)| root);
        root.get("$schema").and_then(Value::as_str).is_some_and(|draft| draft.contains("draft-04"))
    }

    fn part(&self, at: usize) -> Result<Part, InvalidSchema> {
        let (object, resource) = self.parts[at];
        let mut in_place = Vec::new();
        let mut deeper = Vec::new();
        for (key, value) in object {
            match (key.as_str(), value) {
                ("$ref", Value::String(target)) => {
                    in_place.extend(self.targets(resource, target)?);
                }
                // Which of the parts of that name is meant shows only when it is asked.
                ("$dynamicRef" | "$recursiveRef", Value::String(target)) => {
                    in_place.extend(self.targets(resource, target)?);
                    in_place.extend(self.dynamic_targets(target));
                }
                ("allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else", _) => {
                    in_place.extend(self.schemas(value));
                }
                ("dependentSchemas" | "dependencies", Value::Object(map)) => {
                    in_place.extend(map.values().flat_map(|value| self.schemas(value)));
                }
                ("properties" | "patternProperties", Value::Object(map)) => {
                    deeper.extend(map.values().flat_map(|value| self.schemas(value)));
                }
                ("$defs" | "definitions" | "enum" | "const" | "default" | "examples", _) => {}
                _ => deeper.extend(self.schemas(value)),
            }
        }
        in_place.sort_unstable();
        let has = |key: &str| u64::from(object.contains_key(key));
        let members = has("properties").max(has("additionalProperties"))
            + children(object, "patternProperties").len() as u64
            + has("unevaluatedProperties");
        let items = has("items").max(has("prefixItems")).max(has("additionalItems"))
            + has("contains")
            + has("unevaluatedItems");
        let asks_again = has("unevaluatedProperties") + has("unevaluatedItems") > 0;
        let (entries, weight) = (members.max(items), weight(object));
        Ok(Part { in_place, deeper, entries, asks_again, weight })
    }

    /// The objects that are this value, or are in it if it is an array.
    fn schemas(&self, value: &Value) -> Vec<usize> {
        let items = value.as_array().into_iter().flatten();
        items.chain([value]).filter_map(|value| self.place(value)).collect()
    }

    fn place(&self, value: &Value) -> Option<usize> {
        self.places.get(&std::ptr::from_ref(value.as_object()?)).copied()
    }

    /// What a reference means. Nothing, if that is `true` or `false`.
    fn targets(&self, resource: usize, target: &str) -> Result<Vec<usize>, InvalidSchema> {
        let outside = || InvalidSchema::Outside(target.to_owned());
        let (address, fragment) = split(target);
        let wanted = if address.is_empty() {
            resource
        } else {
            let address = joined(&self.resources[resource].0, address);
            let same = |(known, _): &(String, &Value)| *known == address;
            self.resources.iter().position(same).ok_or_else(outside)?
        };
        let whole = self.resources[wanted].1;
        if fragment.is_empty() {
            return Ok(self.schemas(whole));
        }
        let fragment = unescaped(fragment).ok_or_else(outside)?;
        if fragment.starts_with('/') {
            return Ok(self.schemas(whole.pointer(&fragment).ok_or_else(outside)?));
        }
        let named: Vec<usize> = self
            .anchors
            .iter()
            .filter(|(resource, name, _)| *resource == wanted && *name == fragment)
            .map(|(_, _, place)| *place)
            .collect();
        if named.is_empty() { Err(outside()) } else { Ok(named) }
    }

    fn dynamic_targets(&self, target: &str) -> Vec<usize> {
        let (_, fragment) = split(target);
        let meant = |object: &Map<String, Value>| {
            let name = object.get("$dynamicAnchor").and_then(Value::as_str);
            name == Some(fragment) || object.get("$recursiveAnchor") == Some(&Value::Bool(true))
        };
        let all = self.parts.iter().enumerate();
        all.filter(|(_, (object, _))| meant(object)).map(|(place, _)| place).collect()
    }
}

/// Keywords that take their time. An enum of plain values is looked up; any other is gone through.
fn weight(object: &Map<String, Value>) -> u64 {
    let is_plain = |value: &Value| !value.is_array() && !value.is_object();
    let listed = object.get("enum").and_then(Value::as_array);
    let listed = listed.filter(|all| !all.iter().all(is_plain)).map_or(0, |all| all.len() * LISTED);
    let dependent = ["dependentRequired", "dependencies"]
        .map(|key| object.get(key).and_then(Value::as_object).map_or(0, Map::len));
    let divided = object.get("multipleOf").is_some_and(|number| !number.is_u64());
    let unique = object.get("uniqueItems") == Some(&Value::Bool(true));
    let sum = listed
        + dependent.iter().sum::<usize>() * DEPENDENT
        + usize::from(divided) * DIVIDED
        + usize::from(unique) * UNIQUE;
    sum as u64
}

/// How many names an object asks for itself.
fn names(object: &Map<String, Value>) -> u64 {
    let count = |value: &Value| value.as_array().map_or(0, Vec::len) as u64;
    let dependent = ["dependentRequired", "dependencies"].map(|key| children(object, key));
    let dependent = dependent.into_iter().flatten().map(count).sum::<u64>();
    object.get("required").map_or(0, count) + dependent
}

fn children<'a>(object: &'a Map<String, Value>, key: &str) -> Vec<&'a Value> {
    let map = object.get(key).and_then(Value::as_object);
    map.into_iter().flat_map(Map::values).collect()
}

/// An address and what comes after its `#`.
fn split(reference: &str) -> (&str, &str) {
    reference.split_once('#').unwrap_or((reference, ""))
}

/// The address that a reference has when it stands in a document with this one. Dots stay what they
/// are, so that a reference with dots refers to nothing.
fn joined(base: &str, reference: &str) -> String {
    let has_scheme = |text: &str| {
        let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
        !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    if has_scheme(reference) {
        return reference.to_owned();
    }
    let path = base.find("://").map_or(0, |at| at + 3);
    let kept = if reference.starts_with('/') {
        base[path..].find('/').map_or(base.len(), |at| path + at)
    } else {
        base[path..].rfind('/').map_or(path, |at| path + at + 1)
    };
    format!("{}{reference}", &base[..kept])
}

/// A fragment without its `%20`s; none where that is no text.
fn unescaped(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            let digits = std::str::from_utf8(&digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// How far a walk has come with a part.
#[derive(Clone, Copy)]
enum Progress<T> {
    New,
    Begun,
    Done(T),
}

/// What follows from a part in place, itself included.
#[derive(Clone, Copy)]
struct Asked {
    chain: usize,
    parts: u64,
    work: u64,
    /// How often a value inside is asked about.
    entries: u64,
}

/// The walk along ways in place.
struct InPlace<'a> {
    parts: &'a [Part],
    known: Vec<Progress<Asked>>,
    /// The longest way so far.
    chain: usize,
    /// The most entries so far.
    branching: u64,
}

impl InPlace<'_> {
    fn ask(&mut self, at: usize, way: usize) -> Result<Asked, InvalidSchema> {
        match self.known[at] {
            Progress::Done(asked) => return Ok(asked),
            Progress::Begun => return Err(InvalidSchema::Endless),
            Progress::New if way > MAX_CHAIN => return Err(InvalidSchema::TooInvolved),
            Progress::New => self.known[at] = Progress::Begun,
        }
        let part = &self.parts[at];
        let mut asked = Asked { chain: 0, parts: 0, work: 0, entries: 0 };
        for next in &part.in_place {
            let next = self.ask(*next, way + 1)?;
            asked.chain = asked.chain.max(next.chain);
            asked.parts += next.parts;
            asked.work = asked.work.saturating_add(next.work);
            asked.entries += next.entries;
        }
        // Once to judge, once to see what was looked at, and once more for parts that may fail.
        let times = if part.asks_again { 3 } else { 1 };
        asked = Asked {
            chain: asked.chain + 1,
            parts: asked.parts * times + 1,
            work: asked.work.saturating_mul(times).saturating_add(part.weight + 1),
            entries: asked.entries * times + part.entries,
        };
        if asked.chain > MAX_CHAIN || asked.parts > MAX_ASKED {
            return Err(InvalidSchema::TooInvolved);
        }
        self.chain = self.chain.max(asked.chain);
        self.branching = self.branching.max(asked.entries);
        self.known[at] = Progress::Done(asked);
        Ok(asked)
    }
}

/// What follows from a part along all ways, itself included.
#[derive(Clone, Copy)]
struct Below {
    /// The most parts asked of one value.
    repeated: u64,
    /// The same, of values inside only.
    inside: u64,
    /// The most work for one value, and for values inside only.
    work: u64,
    work_inside: u64,
    /// All parts, each as often as something leads to it.
    unfolded: u64,
}

impl Below {
    /// Where a way has come round. From there on the validator remembers what it was asked.
    const ROUND: Self = Self { repeated: 1, inside: 1, work: 1, work_inside: 1, unfolded: 1 };
}

/// The walk along all ways, each until it comes round.
struct Walk<'a> {
    parts: &'a [Part],
    in_place: InPlace<'a>,
    known: Vec<Progress<Below>>,
    recursive: bool,
}

impl Walk<'_> {
    fn go(&mut self, at: usize, way: usize) -> Result<Below, InvalidSchema> {
        match self.known[at] {
            Progress::Done(below) => return Ok(below),
            Progress::Begun => {
                self.recursive = true;
                return Ok(Below::ROUND);
            }
            Progress::New if way > MAX_WAY => return Err(InvalidSchema::TooInvolved),
            Progress::New => self.known[at] = Progress::Begun,
        }
        let asked = self.in_place.ask(at, 1)?;
        let part = &self.parts[at];
        let mut below = Below { repeated: 0, ..Below::ROUND };
        for next in &part.in_place {
            let next = self.go(*next, way + 1)?;
            below.inside = below.inside.max(next.inside);
            below.work_inside = below.work_inside.max(next.work_inside);
            below.unfolded = below.unfolded.saturating_add(next.unfolded);
        }
        for next in &part.deeper {
            let next = self.go(*next, way + 1)?;
            below.inside = below.inside.max(next.repeated);
            below.work_inside = below.work_inside.max(next.work);
            below.unfolded = below.unfolded.saturating_add(next.unfolded);
        }
        below.repeated = asked.parts.max(asked.entries.saturating_mul(below.inside));
        below.work = asked.work.max(asked.entries.saturating_mul(below.work_inside));
        self.known[at] = Progress::Done(below);
        Ok(below)
    }
}
