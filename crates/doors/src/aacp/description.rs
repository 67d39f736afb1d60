//! The description of this door for programs (OpenAPI), made from its types and handlers.

use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};

use super::{mailbox, server, wire};

/// The description.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Agent-to-Agent Communication Protocol",
        version = "1.0",
        description = "Agents send requests, responses and notifications to each other."
    ),
    paths(
        server::version,
        server::specification,
        server::send_message,
        mailbox::get_messages,
        mailbox::set_status
    ),
    components(schemas(
        wire::NewMessage,
        wire::Content,
        wire::MessageView,
        wire::MessagePage,
        wire::MessageType,
        wire::Status,
        wire::NewStatus,
        wire::Outcome,
        wire::Version,
        wire::Specification,
        wire::Endpoints,
        wire::Problem
    )),
    modifiers(&Bearer),
    security(("token" = []))
)]
pub(super) struct Description;

struct Bearer;

impl Modify for Bearer {
    fn modify(&self, description: &mut utoipa::openapi::OpenApi) {
        let components = description.components.get_or_insert_default();
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        components.add_security_scheme("token", scheme);
    }
}

/// The description as JSON.
pub(super) fn json() -> String {
    Description::openapi().to_json().unwrap_or_else(|error| {
        tracing::error!(%error, "the description of the AACP door could not be written");
        "{}".to_owned()
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_endpoint_is_described_with_its_statuses() {
        let text: serde_json::Value = serde_json::from_str(&super::json()).unwrap();
        let paths = text["paths"].as_object().unwrap();
        let send = &paths["/api/v1/protocol/messages"]["post"]["responses"];
        for status in ["201", "400", "401", "403", "404", "413", "415", "422", "429", "500", "503"]
        {
            assert!(send.get(status).is_some(), "{status} is not described");
        }
        assert!(paths.contains_key("/api/v1/protocol/messages/{agent_id}"));
        assert!(paths.contains_key("/api/v1/protocol/messages/{message_id}/status"));
        assert_eq!(text["components"]["securitySchemes"]["token"]["scheme"], "bearer");
    }
}
