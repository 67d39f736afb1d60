//! What an agent can do, with its schemas compiled.

use switchboard_model::{Capability, Declared};

use crate::Refusal;
use crate::schemas::Schema;

/// Capabilities that one agent may declare, and the longest name of one.
const CAPABILITIES: usize = 256;
const NAME: usize = 256;
/// What is said of one capability goes into every answer that names it.
const DESCRIPTION: usize = 4 << 10;
const KEYWORDS: usize = 64;
/// What all schemas of one agent may come to, as text.
const SCHEMA_BYTES: usize = 256 << 10;

/// One capability that can be asked for.
#[derive(Clone)]
pub(crate) struct Offer {
    pub(crate) capability: Capability,
    pub(crate) input: Schema,
    pub(crate) output: Schema,
    /// How long the schemas are as text; compiled they are many times larger.
    schema_bytes: usize,
}

/// All capabilities of one agent, in the order in which it named them.
#[derive(Clone, Default)]
pub(crate) struct Offers(Vec<Offer>);

impl Offers {
    /// Checks and compiles what an agent declares in the place of what it declared before. Of two of the
    /// same name the later counts. A name alone says no more than was said of it before: to come by a
    /// door that knows only names must not open what was closed.
    pub(crate) fn replaced(&self, declared: Vec<Declared>) -> Result<Self, Refusal> {
        let mut offers = Self::default();
        for one in declared {
            offers.put(self.offer(one)?)?;
        }
        Ok(offers)
    }

    fn offer(&self, declared: Declared) -> Result<Offer, Refusal> {
        let before = match &declared {
            Declared::Name(name) => self.get(name).cloned(),
            Declared::Full(_) => None,
        };
        before.map_or_else(|| compile(Capability::from(declared)), Ok)
    }

    /// What was declared before. A schema that cannot be used any more accepts all, so that an agent
    /// is not lost for it.
    pub(crate) fn restore(capabilities: Vec<Capability>) -> Self {
        let one = |capability: Capability| match compile(capability.clone()) {
            Ok(offer) => offer,
            Err(error) => {
                tracing::error!(%error, "a schema from before cannot be used and accepts all");
                let (input, output, schema_bytes) = (Schema::any(), Schema::any(), 0);
                Offer { capability, input, output, schema_bytes }
            }
        };
        Self(capabilities.into_iter().map(one).collect())
    }

    /// The same with some new or changed ones, and without some.
    pub(crate) fn changed(
        &self,
        declared: Vec<Declared>,
        withdrawn: &[String],
    ) -> Result<Self, Refusal> {
        let mut offers = self.clone();
        offers.0.retain(|offer| !withdrawn.contains(&offer.capability.name));
        for one in declared {
            offers.put(self.offer(one)?)?;
        }
        Ok(offers)
    }

    fn put(&mut self, offer: Offer) -> Result<(), Refusal> {
        let same = |one: &Offer| one.capability.name == offer.capability.name;
        match self.0.iter().position(same) {
            Some(at) => self.0[at] = offer,
            None if self.0.len() >= CAPABILITIES => {
                return Err(Refusal::TooManyCapabilities(CAPABILITIES));
            }
            None => self.0.push(offer),
        }
        if self.schema_bytes() > SCHEMA_BYTES {
            return Err(Refusal::TooManySchemas(SCHEMA_BYTES));
        }
        Ok(())
    }

    /// How long all schemas are as text.
    pub(crate) fn schema_bytes(&self) -> usize {
        self.0.iter().map(|offer| offer.schema_bytes).sum()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Offer> {
        self.0.iter().find(|offer| offer.capability.name == name)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Offer> {
        self.0.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn capabilities(&self) -> Vec<Capability> {
        self.0.iter().map(|offer| offer.capability.clone()).collect()
    }
}

fn compile(capability: Capability) -> Result<Offer, Refusal> {
    let bad = |why: String| Refusal::BadCapability { name: capability.name.clone(), why };
    let name = &capability.name;
    if name.is_empty() || name.len() > NAME || name.chars().any(char::is_control) {
        let name = name.chars().take(NAME).collect();
        let why = format!("a name has 1 to {NAME} bytes and no control characters");
        return Err(Refusal::BadCapability { name, why });
    }
    let words = capability.keywords.len();
    let longest = capability.keywords.iter().map(String::len).max().unwrap_or(0);
    if capability.description.len() > DESCRIPTION || words > KEYWORDS || longest > NAME {
        let why = format!(
            "a description has at most {DESCRIPTION} bytes, and there are at most {KEYWORDS} keywords of {NAME} bytes"
        );
        return Err(bad(why));
    }
    let input = Schema::compile(&capability.input_schema)
        .map_err(|error| bad(format!("input_schema: {error}")))?;
    let output = Schema::compile(&capability.output_schema)
        .map_err(|error| bad(format!("output_schema: {error}")))?;
    let length = |schema: &serde_json::Value| schema.to_string().len();
    let schema_bytes = length(&capability.input_schema) + length(&capability.output_schema);
    Ok(Offer { input, output, schema_bytes, capability })
}
