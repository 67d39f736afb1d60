//! Shows the operator how messages look at the doors, which the console does not know.

use switchboard_console::Forms;
use switchboard_doors::forms;
use switchboard_model::{AgentId, Door, Message};

/// The doors of this program.
pub(crate) struct DoorForms;

impl Forms for DoorForms {
    fn incoming(&self, message: &Message) -> String {
        forms::incoming(message)
    }

    fn outgoing(&self, message: &Message, door: Door, to: &AgentId) -> String {
        forms::outgoing(message, door, to)
    }
}
