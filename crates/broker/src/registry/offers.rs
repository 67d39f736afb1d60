//! What an agent can do, with its schemas compiled.

use switchboard_model::Capability;

use crate::Refusal;
use crate::schemas::Schema;

/// Capabilities that one agent may declare, and the longest name of one.
const CAPABILITIES: usize = 256;
const NAME: usize = 256;

/// One capability that can be asked for.
#[derive(Clone)]
pub(crate) struct Offer {
    pub(crate) capability: Capability,
    pub(crate) input: Schema,
    pub(crate) output: Schema,
}

/// All capabilities of one agent, in the order in which it named them.
#[derive(Clone, Default)]
pub(crate) struct Offers(Vec<Offer>);

impl Offers {
    /// Checks and compiles what an agent declares. Of two of the same name the later counts.
    pub(crate) fn compile(capabilities: Vec<Capability>) -> Result<Self, Refusal> {
        let mut offers = Self::default();
        for capability in capabilities {
            offers.put(compile(capability)?)?;
        }
        Ok(offers)
    }

    /// What was declared before. A schema that cannot be used any more accepts all, so that an agent
    /// is not lost for it.
    pub(crate) fn restore(capabilities: Vec<Capability>) -> Self {
        let one = |capability: Capability| match compile(capability.clone()) {
            Ok(offer) => offer,
            Err(error) => {
                tracing::error!(%error, "a schema from before cannot be used and accepts all");
                Offer { capability, input: Schema::any(), output: Schema::any() }
            }
        };
        Self(capabilities.into_iter().map(one).collect())
    }

    /// The same with some new or changed ones, and without some.
    pub(crate) fn changed(
        &self,
        capabilities: Vec<Capability>,
        withdrawn: &[String],
    ) -> Result<Self, Refusal> {
        let mut offers = self.clone();
        offers.0.retain(|offer| !withdrawn.contains(&offer.capability.name));
        for capability in capabilities {
            offers.put(compile(capability)?)?;
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
        Ok(())
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
    let input = Schema::compile(&capability.input_schema)
        .map_err(|error| bad(format!("input_schema: {error}")))?;
    let output = Schema::compile(&capability.output_schema)
        .map_err(|error| bad(format!("output_schema: {error}")))?;
    Ok(Offer { input, output, capability })
}
