import { beforeEach, describe, expect, test, vi } from "vitest";
import { CallError } from "../api/error";
import { FakeBroker } from "../testing/fake-broker";
import { certificate } from "../testing/fixtures";
import { Security } from "./security.svelte";

describe("security", () => {
  let broker: FakeBroker;
  let security: Security;
  let said: string[];

  beforeEach(() => {
    broker = new FakeBroker();
    said = [];
    security = new Security(broker.client, (text) => said.push(text));
  });

  test("a certificate of the port brings the lines for the settings file", async () => {
    security.ask({ what: "server" });
    await security.makeServer(["broker.example.net"]);
    expect(broker.called("makeServerCertificate")).toEqual([{ names: ["broker.example.net"] }]);
    expect(security.view?.tls.settings).toContain("[tls]");
    expect(security.asking).toBeNull();
  });

  test("a client's certificate is shown with its file, and listed", async () => {
    security.ask({ what: "client" });
    await security.makeClient("crawler-7");
    expect(security.made?.file).toContain("crawler-7.pem");
    await vi.waitFor(() => {
      expect(security.view?.certificates.map(({ name }) => name)).toEqual(["crawler-7"]);
    });
    security.forget();
    expect(security.made).toBeNull();
  });

  test("what the broker says against a name is told where it was asked", async () => {
    security.ask({ what: "client" });
    await security.makeClient("../../etc");
    expect(security.askTrouble).toBe("a name has no slash");
    expect(security.asking).toEqual({ what: "client" });
    security.cancel();
    expect(security.askTrouble).toBeNull();
  });

  test("a certificate is revoked by its serial number", async () => {
    const crawler = certificate("crawler-7");
    broker.security.view = { ...broker.security.view, certificates: [crawler] };
    security.ask({ what: "revoke", certificate: crawler });
    await security.revoke(crawler);
    expect(broker.called("revokeCertificate")).toEqual([{ serial: crawler.serial }]);
    expect(security.view?.certificates[0]?.revokedAt).not.toBeNull();
    expect(said).toEqual(["The certificate of crawler-7 is revoked."]);
  });

  test("a signed token is held until it was seen", async () => {
    await security.sign(["discover:read"], 600);
    expect(broker.called("signJwt")).toEqual([{ scopes: ["discover:read"], ttlSeconds: 600 }]);
    expect(security.signed?.token).toBe("a-signed-token");
    security.forget();
    expect(security.signed).toBeNull();
  });

  test("why a token is not signed is told in the form", async () => {
    broker.security.sign = () => Promise.reject(new CallError("invalidRequest", "too long"));
    await security.sign(["discover:read"], 9e9);
    expect(security.signTrouble).toBe("too long");
    expect(security.busy).toBe(false);
  });

  test("a new key leaves the old one in the list for its last day", async () => {
    security.ask({ what: "rotate" });
    await security.rotate();
    expect(security.view?.jwtKeys.map(({ name }) => name)).toEqual(["own", "own, before"]);
  });
});
