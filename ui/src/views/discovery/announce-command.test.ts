import { expect, test } from "vitest";
import { announceCommand } from "./announce-command";

test("the lines go to the broker that shows them, whatever its data folder is called", () => {
  const lines = announceCommand("wss://10.0.0.12:7892", "/home/o'neill/switch board");
  expect(lines).toContain("curl https://10.0.0.12:7892/agents ");
  expect(lines).toContain(
    "bub token jwt --scope discover:write --data-dir '/home/o'\\''neill/switch board'",
  );
});
