//! Who was announced, whom to trust, and what protects the port.

use switchboard_broker::Caller;
use switchboard_model::{AllowEntry, AnnouncedView, Code, Command};

use super::{Console, invalid, unexpected};
use crate::api::{
    AdmitAgent, AllowList, CallError, CertificateView, DiscoveryView, EditAllowList, LookOn,
    Looking, MakeClientCertificate, MakeServerCertificate, NewAllowEntry, Nothing, OneAgent,
    OneCertificate, SecurityView,
};

impl Console {
    pub(super) async fn discovery(&self) -> Result<DiscoveryView, CallError> {
        let (agents, turned_away) = self.broker().announced().await?;
        let premises = &self.parts.premises;
        Ok(DiscoveryView { agents, turned_away, own: premises.own(), looking: premises.looking() })
    }

    pub(super) async fn admit_agent(&self, admit: AdmitAgent) -> Result<AnnouncedView, CallError> {
        let AdmitAgent { agent, fingerprint } = admit;
        self.decide(Command::Admit { agent, fingerprint }).await
    }

    pub(super) async fn refuse_agent(&self, one: OneAgent) -> Result<AnnouncedView, CallError> {
        self.decide(Command::RefuseAgent(one.agent)).await
    }

    async fn decide(&self, command: Command) -> Result<AnnouncedView, CallError> {
        let reply = self.broker().submit(Caller::Operator, command).await?;
        reply.announced().ok_or_else(unexpected)
    }

    pub(super) async fn forget_agent(&self, one: OneAgent) -> Result<Nothing, CallError> {
        self.broker().submit(Caller::Operator, Command::ForgetAgent(one.agent)).await?;
        Ok(Nothing {})
    }

    pub(super) async fn look_on(&self, look: LookOn) -> Result<Looking, CallError> {
        self.parts.premises.look_on(look.interfaces).await.map_err(invalid)
    }

    pub(super) async fn allow_list(&self) -> Result<AllowList, CallError> {
        Ok(AllowList { entries: self.broker().allow_list().await? })
    }

    pub(super) async fn edit_allow_list(
        &self,
        edit: EditAllowList,
    ) -> Result<AllowList, CallError> {
        let entry = |new: NewAllowEntry| AllowEntry {
            pattern: new.pattern.trim().to_owned(),
            note: new.note,
            added_at: None,
        };
        let add = edit.add.into_iter().map(entry).collect();
        let command = Command::EditAllowList { add, remove: edit.remove };
        self.broker().submit(Caller::Operator, command).await?;
        self.allow_list().await
    }

    pub(super) async fn security(&self) -> Result<SecurityView, CallError> {
        self.parts.premises.security().await.map_err(failed)
    }

    pub(super) async fn make_server_certificate(
        &self,
        make: MakeServerCertificate,
    ) -> Result<SecurityView, CallError> {
        self.parts.premises.make_server_certificate(make.names).await.map_err(invalid)
    }

    pub(super) async fn make_client_certificate(
        &self,
        make: MakeClientCertificate,
    ) -> Result<CertificateView, CallError> {
        self.parts.premises.make_client_certificate(make.name).await.map_err(invalid)
    }

    pub(super) async fn revoke_certificate(
        &self,
        one: OneCertificate,
    ) -> Result<SecurityView, CallError> {
        self.parts.premises.revoke_certificate(one.serial).await.map_err(invalid)
    }

    pub(super) async fn rotate_jwt_key(&self) -> Result<SecurityView, CallError> {
        self.parts.premises.rotate_jwt_key().await.map_err(failed)
    }
}

fn failed(message: String) -> CallError {
    CallError { code: Code::Internal, message }
}
