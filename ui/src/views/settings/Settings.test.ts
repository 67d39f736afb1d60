import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Console } from "../../state/console.svelte";
import { FakeBroker } from "../../testing/fake-broker";
import { backup } from "../../testing/fake-settings";
import { agent, AT, certificate, figures, snapshot, totals } from "../../testing/fixtures";
import App from "../App.svelte";
import { goodUntil } from "./good-until";

describe("Settings", () => {
  let console: Console;
  let broker: FakeBroker;

  beforeEach(() => {
    broker = new FakeBroker();
    console = new Console(broker.client);
  });
  afterEach(cleanup);

  async function open(section: string, ...agents: ReturnType<typeof agent>[]) {
    window.location.hash = `#/settings${section}`;
    render(App, { console });
    broker.say(snapshot({ totals: totals(1), agents }));
    await screen.findByRole("heading", { name: "Settings" });
  }

  test("begins with where the broker listens; its pages have addresses", async () => {
    await open("");
    await screen.findByRole("heading", { name: "General" });
    await screen.findByLabelText("Address");
    const parts = screen.getByRole("navigation", { name: "Settings" });
    const link = within(parts).getByRole("link", { name: "Signed tokens" });
    expect(link.getAttribute("href")).toBe("#/settings/signed-tokens");
  });

  test("an address that names no page leads to the first, and says so", async () => {
    await open("/unknown");
    await screen.findByRole("heading", { name: "General" });
    await waitFor(() => expect(window.location.hash).toBe("#/settings/general"));
  });

  test("a database in which nothing is empty is not offered to be compacted", async () => {
    broker.settings.storage = { ...broker.settings.storage, unusedBytes: 0 };
    await open("/data");
    const compact = await screen.findByRole("button", { name: "Compact…" });
    expect(compact.hasAttribute("disabled")).toBe(true);
    const reason = document.getElementById(compact.getAttribute("aria-describedby") ?? "");
    expect(reason?.textContent).toMatch(/nothing to free/);
  });

  test("what protects the port is told", async () => {
    await open("/security");
    await screen.findByRole("heading", { name: "Connection security" });
    expect((await screen.findByLabelText("What protects the port")).textContent).toMatch(
      /Port\s*speaks plain text/,
    );
  });

  test("a number is judged as it is written, and saved with the rest", async () => {
    await open("/delivery");
    const attempts = await screen.findByLabelText("Attempts");
    await fireEvent.input(attempts, { target: { value: "0" } });
    screen.getByText("The least is 1.");
    const save = screen.getByRole("button", { name: "Save" });
    expect(save.hasAttribute("disabled")).toBe(true);
    await fireEvent.input(attempts, { target: { value: "5" } });
    await fireEvent.click(save);
    expect(broker.called("editSettings")).toEqual([
      { changes: [{ key: "delivery.attempts", value: 5 }] },
    ]);
    await screen.findByText("Saved 1 setting, in force now.");
    await fireEvent.click(screen.getByRole("button", { name: "Reset Attempts to its default, 3" }));
    expect(console.settings.changed.map(({ key }) => key)).toEqual(["delivery.attempts"]);
    await fireEvent.click(screen.getByRole("button", { name: "Discard" }));
    expect(console.settings.changed).toEqual([]);
  });

  test("a change is in the history, and is put back from there and from its notice", async () => {
    await open("/delivery");
    await fireEvent.input(await screen.findByLabelText("Attempts"), { target: { value: "5" } });
    await fireEvent.keyDown(window, { key: "s", ctrlKey: true });
    await screen.findByText("Saved 1 setting, in force now.");
    await fireEvent.click(screen.getByRole("button", { name: "Undo" }));
    await screen.findByText("Put back 1 setting, in force now.");
    window.location.hash = "#/settings/history";
    const list = await screen.findByRole("list", { name: "Changes of settings" });
    const told = () =>
      within(list)
        .getAllByRole("listitem")
        .map((each) => each.textContent);
    await waitFor(() => expect(told()).toHaveLength(2));
    expect(told()[0]).toMatch(/Attempts.*5 →\s*3.*by operator/s);
    const undo = within(list).getAllByRole("button", { name: /^Undo: put Attempts back/ });
    expect(undo).toHaveLength(1);
    await fireEvent.click(
      within(list).getByRole("button", { name: "Undo: put Attempts back to 5" }),
    );
    await waitFor(() => expect(told()).toHaveLength(3));
    expect(broker.called("editSettings").at(-1)).toEqual({
      changes: [{ key: "delivery.attempts", value: 5 }],
    });
  });

  test("what is dangerous is said before it is saved, and a restart is asked for after", async () => {
    await open("/doors");
    await fireEvent.click(await screen.findByRole("switch", { name: "Open to this machine" }));
    screen.getByText(/can read mail that is not its own/);
    await fireEvent.keyDown(window, { key: "s", ctrlKey: true });
    await screen.findByText("1 setting waits for a restart.");
    await fireEvent.click(screen.getByRole("button", { name: "Restart now…" }));
    await screen.findByText(/Agents are disconnected for a moment/);
    await fireEvent.click(screen.getByRole("button", { name: "Restart now" }));
    await screen.findByRole("alertdialog", { name: "Restarting" });
    broker.lose();
    await screen.findByText(/waiting for it to come back/);
    broker.say(snapshot({ figures: { ...figures, uptimeSeconds: 0 } }));
    await waitFor(() => {
      expect(screen.queryByRole("alertdialog")).toBeNull();
    });
  });

  test("settings are found by any of their words, and edited where they are found", async () => {
    await open("");
    await screen.findByLabelText("Address");
    await fireEvent.input(screen.getByLabelText("Search all settings"), {
      target: { value: "retention days" },
    });
    await screen.findByText(/1 setting\s+with “retention days”/);
    await fireEvent.input(screen.getByLabelText("Retention days"), { target: { value: "30" } });
    expect(console.settings.changed.map(({ key }) => key)).toEqual(["retention.days"]);
  });

  test("a list is written line by line, by keys alone", async () => {
    await open("/default-handler");
    await fireEvent.click(await screen.findByRole("button", { name: "Add to Command" }));
    const first = await screen.findByLabelText("Command, 1 of 1");
    await fireEvent.input(first, { target: { value: "python3" } });
    await fireEvent.keyDown(first, { key: "Enter" });
    await fireEvent.input(await screen.findByLabelText("Command, 2 of 2"), {
      target: { value: "agent.py" },
    });
    screen.getByText(/has this program started/);
    await console.settings.save();
    expect(broker.called("editSettings")).toEqual([
      { changes: [{ key: "default_handler.command", value: ["python3", "agent.py"] }] },
    ]);
  });

  test("a backup is made with progress, and restored only when that is confirmed", async () => {
    await open("/data");
    await fireEvent.click(await screen.findByRole("button", { name: "Back up now" }));
    await screen.findByRole("progressbar", { name: "Backing up" });
    broker.settings.finish("copied 120 MB", [backup("switchboard-1.db")]);
    await screen.findByText(/copied 120 MB/);
    await fireEvent.click(screen.getByRole("button", { name: "Restore switchboard-1.db" }));
    await screen.findByText(/Nothing changes until the next start/);
    await fireEvent.click(screen.getByRole("button", { name: "Restore at the next start" }));
    await screen.findByText(/A backup takes the database’s place/i);
    await fireEvent.click(screen.getByRole("button", { name: "Do not restore after all" }));
    await waitFor(() => {
      expect(screen.queryByText(/takes the place of/)).toBeNull();
    });
  });

  test("diagnostics are shown as text, with what was removed", async () => {
    broker.settings.diagnostics = "Switchboard <b>0.2.0</b>";
    await open("/diagnostics");
    const text = await screen.findByLabelText("Diagnostics", { selector: "pre" });
    expect(text.textContent).toBe("Switchboard <b>0.2.0</b>");
    screen.getByText(/everything that messages say/);
  });

  test("text grows, and the page remembers it", async () => {
    await open("/appearance");
    await fireEvent.click(await screen.findByRole("radio", { name: "150 %" }));
    expect(document.documentElement.style.getPropertyValue("--scale")).toBe("1.5");
    console.appearance.chooseSize(100);
  });

  test("a certificate of the port is made, and the lines to copy are shown", async () => {
    await open("/security");
    await fireEvent.click(await screen.findByRole("button", { name: "Make a certificate…" }));
    const dialog = await screen.findByRole("dialog", { name: "Make a certificate for the port" });
    await fireEvent.input(within(dialog).getByLabelText(/More names/), {
      target: { value: "broker.example.net, 10.0.0.12" },
    });
    await fireEvent.click(within(dialog).getByRole("button", { name: "Make it" }));
    expect(broker.called("makeServerCertificate")).toEqual([
      { names: ["broker.example.net", "10.0.0.12"] },
    ]);
    await screen.findByRole("button", { name: "Copy the lines for switchboard.toml" });
    screen.getByText(/cert = "tls\/server.pem"/);
  });

  test("a client's certificate is made for a name, listed, and revoked when that is confirmed", async () => {
    await open("/security");
    await fireEvent.click(await screen.findByRole("button", { name: "New client certificate…" }));
    const dialog = await screen.findByRole("dialog", { name: "New client certificate" });
    const make = within(dialog).getByRole("button", { name: "Make it" });
    expect(make.hasAttribute("disabled")).toBe(true);
    await fireEvent.input(within(dialog).getByLabelText("Whose it is"), {
      target: { value: "crawler-7" },
    });
    await fireEvent.click(make);
    const made = await screen.findByRole("dialog", { name: "Certificate of crawler-7" });
    within(made).getByText(/crawler-7\.pem/);
    await fireEvent.click(within(made).getByRole("button", { name: "Done" }));
    const revoke = await screen.findByRole("button", {
      name: "Revoke the certificate of crawler-7",
    });
    await fireEvent.click(revoke);
    await screen.findByText(/Connections that use it end/);
    expect(broker.called("revokeCertificate")).toEqual([]);
    await fireEvent.click(screen.getByRole("button", { name: "Revoke it" }));
    await within(screen.getByRole("table", { name: "Issued certificates" })).findByText(/^revoked/);
  });

  test("an authority cannot be revoked here", async () => {
    broker.security.view = {
      ...broker.security.view,
      certificates: [certificate("the authority", { kind: "authority" })],
    };
    await open("/security");
    await screen.findByText("the authority");
    expect(screen.queryByRole("button", { name: /^Revoke/ })).toBeNull();
  });

  test("a token is signed for what is chosen, shown once, and not lost to the palette", async () => {
    await open("/signed-tokens");
    const form = await screen.findByRole("form", { name: "Sign a token" });
    await fireEvent.click(within(form).getByLabelText(/announce an agent/));
    await fireEvent.click(within(form).getByRole("button", { name: "Sign a token" }));
    expect(broker.called("signJwt")).toEqual([
      { scopes: ["discover:read", "discover:write"], ttlSeconds: 3_600 },
    ]);
    const shown = await screen.findByRole("dialog", { name: "Signed token" });
    within(shown).getByText("a-signed-token");
    console.togglePalette();
    expect(console.palette).toBe(false);
    await fireEvent.click(within(shown).getByRole("button", { name: "I have it" }));
    await waitFor(() => {
      expect(screen.queryByText("a-signed-token")).toBeNull();
    });
  });

  test("a new key is made when that is confirmed", async () => {
    await open("/signed-tokens");
    await fireEvent.click(await screen.findByRole("button", { name: "Make a new key…" }));
    await screen.findByText(/Those of the old one count for another day/);
    await fireEvent.click(screen.getByRole("button", { name: "Make a new key" }));
    await screen.findByText("own, before");
  });

  test("who has a token is listed with its ceiling, and can lose it", async () => {
    const token = { createdAt: AT, ceiling: "HIGH" as const, revokedAt: null };
    await open("/agent-tokens", agent("echo"), agent("clerk", { token }));
    const table = await screen.findByRole("table", { name: "Tokens of agents" });
    await within(table).findByRole("row", { name: /clerk.*HIGH/ });
    expect(within(table).queryByText("echo")).toBeNull();
    screen.getByText(/1 agent has no token: anyone on this machine can use its name/);
    await fireEvent.click(within(table).getByRole("button", { name: "Revoke the token of clerk" }));
    await fireEvent.click(await screen.findByRole("button", { name: "Revoke token" }));
    expect(broker.called("revokeToken")).toEqual([{ agent: "clerk" }]);
  });

  test.each([
    ["2027-11-16T12:00:00Z", "on", /^2027-11-16$/],
    ["2026-11-20T13:00:00Z", "soon", /4 days left/],
    ["2026-11-16T13:00:00Z", "soon", /less than a day left/],
    ["2026-11-15T12:00:00Z", "bad", /^expired 2026-11-15$/],
  ])("good until %s is %s", (instant, light, words) => {
    const told = goodUntil(instant, Date.parse("2026-11-16T12:00:00Z"));
    expect(told.light).toBe(light);
    expect(told.words).toMatch(words);
  });
});
