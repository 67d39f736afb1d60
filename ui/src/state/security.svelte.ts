import type { Client } from "../api/client";
import { CallError } from "../api/error";
import type { CertificateView, SecurityView, SignedJwt } from "../api/generated";
import { oneAtATime } from "../parts/one-at-a-time";
import { visible } from "../parts/visible";

/** What the operator is about to do, and is asked about first. */
export type SecurityQuestion =
  | { what: "server" }
  | { what: "client" }
  | { what: "revoke"; certificate: CertificateView }
  | { what: "rotate" };

/** What protects the port: certificates, and the keys of signed tokens. */
export class Security {
  view = $state.raw<SecurityView | null>(null);
  trouble = $state<string | null>(null);
  asking = $state.raw<SecurityQuestion | null>(null);
  askTrouble = $state<string | null>(null);
  busy = $state(false);
  /** A client's certificate that was made just now. */
  made = $state.raw<CertificateView | null>(null);
  /** A token that was signed just now. It cannot be shown again. */
  signed = $state.raw<SignedJwt | null>(null);
  signTrouble = $state<string | null>(null);

  readonly #client: Client;
  readonly #say: (text: string) => void;
  readonly #read = oneAtATime(() => this.#readOnce());

  /** `say` tells the operator what was done. */
  constructor(client: Client, say: (text: string) => void) {
    this.#client = client;
    this.#say = say;
  }

  read(): void {
    void this.#read();
  }

  ask(question: SecurityQuestion): void {
    this.askTrouble = null;
    this.asking = question;
  }

  cancel(): void {
    this.asking = null;
    this.askTrouble = null;
  }

  /** Makes the certificate of this port, good for these names too. */
  async makeServer(names: string[]): Promise<void> {
    await this.#answer(async () => {
      this.view = await this.#client.call("makeServerCertificate", { names });
      this.#say("The certificate is made. The settings file has to name it.");
    });
  }

  async makeClient(name: string): Promise<void> {
    await this.#answer(async () => {
      this.made = await this.#client.call("makeClientCertificate", { name });
      void this.#read();
    });
  }

  async revoke({ serial, name }: CertificateView): Promise<void> {
    await this.#answer(async () => {
      this.view = await this.#client.call("revokeCertificate", { serial });
      this.#say(`The certificate of ${visible(name)} is revoked.`);
    });
  }

  /** Makes a new key for signed tokens; the old one counts for another day. */
  async rotate(): Promise<void> {
    await this.#answer(async () => {
      this.view = await this.#client.call("rotateJwtKey", {});
      this.#say("There is a new key. The old one counts for another day.");
    });
  }

  /** Signs a token, which is then shown once. */
  async sign(scopes: string[], ttlSeconds: number): Promise<void> {
    this.signTrouble = null;
    await this.#exclusively(
      async () => {
        this.signed = await this.#client.call("signJwt", { scopes, ttlSeconds });
      },
      (message) => (this.signTrouble = message),
    );
  }

  /** What was shown once was seen; nothing here remembers it. */
  forget(): void {
    this.signed = null;
    this.made = null;
  }

  /** Does what was asked about; if it fails, the question stays with the reason. */
  async #answer(act: () => Promise<void>): Promise<void> {
    this.askTrouble = null;
    await this.#exclusively(
      async () => {
        await act();
        this.asking = null;
      },
      (message) => (this.askTrouble = message),
    );
  }

  async #exclusively(act: () => Promise<void>, tell: (message: string) => void): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      await act();
    } catch (reason) {
      tell(CallError.from(reason).message);
    } finally {
      this.busy = false;
    }
  }

  async #readOnce(): Promise<void> {
    try {
      this.view = await this.#client.call("security", {});
      this.trouble = null;
    } catch (reason) {
      this.trouble = CallError.from(reason).message;
    }
  }
}
