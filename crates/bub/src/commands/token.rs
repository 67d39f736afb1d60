//! `bub token`: proofs of who an agent is, and signed tokens with scopes.
//!
//! A token stands alone on stdout, so that a shell can keep it; what there is to say goes to stderr.

mod issue;
mod jwt;
mod revoke;

use clap::{Args, Subcommand};
use switchboard_model::AgentId;

use crate::failure::Failure;
use crate::whereabouts::AsOperator;

/// Give an agent a token or take it away, and sign tokens with scopes
#[derive(Args)]
#[command(subcommand_required = true, after_help = EXAMPLES)]
pub(crate) struct Token {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    operator: AsOperator,
}

const EXAMPLES: &str = "\
An id that has a token can only be used with it.

Examples:
  TOKEN=$(bub token issue analyzer)
  BUB_AUTH_TOKEN=$TOKEN bub subscribe agent:analyzer --agent-id analyzer
  bub token revoke analyzer
  bub token jwt --scope discover:read --scope discover:write --ttl 600";

#[derive(Subcommand)]
enum What {
    Issue(issue::Issue),
    Revoke(revoke::Revoke),
    Jwt(jwt::Jwt),
}

impl Token {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let operator = &self.operator;
        match self.what {
            What::Issue(command) => command.run(operator).await,
            What::Revoke(command) => command.run(operator).await,
            What::Jwt(command) => command.run(operator).await,
        }
    }
}

/// An argument that names an agent.
fn agent_id(text: &str) -> Result<AgentId, String> {
    AgentId::parse(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    #[test]
    fn a_token_is_for_one_agent_and_a_signed_one_for_scopes() {
        let parsed = |line: &str| {
            let words = ["bub", "token"].into_iter().chain(line.split_whitespace());
            crate::Cli::try_parse_from(words).is_ok()
        };
        for right in [
            "issue a",
            "issue a --ceiling HIGH --json",
            "issue a --ceiling low",
            "revoke a",
            "jwt --scope discover:read --scope discover:write --ttl 60 --json",
        ] {
            assert!(parsed(right), "{right}");
        }
        for wrong in [
            "",
            "issue",
            "issue a b",
            "issue a --ceiling HIGHEST",
            "revoke",
            "jwt",
            "jwt --scope discover:read --ttl 0",
            "jwt --scope discover:read --ttl soon",
        ] {
            assert!(!parsed(wrong), "{wrong}");
        }
    }
}
