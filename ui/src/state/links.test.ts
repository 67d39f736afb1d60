import { beforeEach, expect, test } from "vitest";
import { Links } from "./links";

const ID = "01977f3a-7c11-7aaa-8bbb-0123456789ab";

let did: string[];
let links: Links;
beforeEach(() => {
  did = [];
  links = new Links({
    knows: (agent) => agent === "planner",
    showMessage: ({ id }) => did.push(`message ${id}`),
    showAgent: (id) => did.push(`agent ${id}`),
    showConversation: (id) => did.push(`conversation ${id}`),
    showLetter: ({ id }) => did.push(`letter ${id}`),
    showScreen: (screen) => did.push(`screen ${screen}`),
    tell: (text) => did.push(`says: ${text}`),
  });
});

test.each([
  [`switchboard://message/${ID}`, `message ${ID}`],
  ["switchboard://agent/planner", "agent planner"],
  ["switchboard://conversation/c-1", "conversation c-1"],
  [`switchboard://dead-letter/${ID}`, `letter ${ID}`],
  ["switchboard://screen/discovery", "screen discovery"],
])("%s opens it", (text, what) => {
  links.ready();
  links.follow(text);
  expect(did).toEqual([what]);
});

test.each(["switchboard://agent/nobody", "switchboard://screen/attic", "switchboard://x/y", "x"])(
  "%s is answered with a sentence, and nothing else",
  (text) => {
    links.ready();
    links.follow(text);
    expect(did).toEqual([expect.stringMatching(/^says: .*link leads/)]);
  },
);

test("a link that comes early waits for the broker; of several the last one counts", () => {
  links.follow("switchboard://screen/agents");
  links.follow("switchboard://agent/planner");
  expect(did).toEqual([]);
  links.ready();
  links.ready();
  expect(did).toEqual(["agent planner"]);
});
