import { CallError } from "../api/error";
import type { CertificateView, SecurityView, SignedJwt, SignJwt } from "../api/generated";
import { AT, certificate } from "./fixtures";

/** The part of the fake broker that issues certificates and signs tokens. */
export class FakeSecurity {
  view: SecurityView = {
    tls: {
      on: false,
      clientCertificates: false,
      revocations: false,
      expiresAt: null,
      settings: "",
    },
    certificates: [],
    folder: "/home/operator/switchboard/tls",
    jwtKeys: [{ name: "own", algorithm: "HS256", until: null }],
  };
  sign = ({ scopes }: SignJwt): Promise<SignedJwt> =>
    Promise.resolve({ token: "a-signed-token", scopes, expiresAt: AT });

  makeServer(names: string[]): SecurityView {
    const settings = '[tls]\ncert = "tls/server.pem"\nkey = "tls/server-key.pem"\n';
    const name = ["localhost", ...names].join(", ");
    this.#change({ tls: { ...this.view.tls, settings } });
    this.#issue(certificate(name, { kind: "server", serial: "01" }));
    return this.view;
  }

  makeClient(name: string): CertificateView {
    if (name.includes("/")) throw new CallError("invalidRequest", "a name has no slash");
    return this.#issue(certificate(name, { serial: "02" }));
  }

  revoke(serial: string): SecurityView {
    return this.#change({
      certificates: this.view.certificates.map((each) =>
        each.serial === serial ? { ...each, revokedAt: AT } : each,
      ),
    });
  }

  rotate(): SecurityView {
    const [own, ...others] = this.view.jwtKeys;
    if (own === undefined) return this.view;
    return this.#change({ jwtKeys: [own, { ...own, name: "own, before", until: AT }, ...others] });
  }

  #issue(made: CertificateView): CertificateView {
    this.#change({ certificates: [made, ...this.view.certificates] });
    return made;
  }

  #change(change: Partial<SecurityView>): SecurityView {
    this.view = { ...this.view, ...change };
    return this.view;
  }
}
