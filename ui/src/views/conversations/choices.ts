import type { Console } from "../../state/console.svelte";
import { copyLink } from "../copy-link";
import type { Choice } from "../shell/commands";

/** What can be done about the conversation that is open. */
export function conversationCommands(
  console: Console,
  command: (title: string, keys: string, run: () => void, hint?: string) => Choice,
): Choice[] {
  const { open } = console.conversations;
  const { player, diagram, moments, id, detail } = open;
  if (console.route.screen !== "conversations" || id === null || detail === null) return [];
  const hint = id.length > 24 ? "" : id;
  const views = [
    command("Show the sequence", "", () => (open.view = "sequence"), hint),
    command("Show the waterfall", "", () => (open.view = "waterfall"), hint),
    command("Show the messages as a table", "", () => (open.view = "messages"), hint),
    ...(detail.session === null
      ? []
      : [command("Show the shared state", "", () => (open.view = "state"), hint)]),
  ];
  return [
    ...views,
    command(
      player.playing ? "Pause the steps" : "Play the steps",
      "p",
      () => player.toggle(),
      hint,
    ),
    command("One step back", "[", () => player.by(-1), hint),
    command("One step on", "]", () => player.by(1), hint),
    ...(player.step === null ? [] : [command("Back to now", "Esc", () => player.now(), hint)]),
    command(
      moments.wanted ? "Hide how things were" : "Show how things were",
      "",
      () => moments.toggle(),
      hint,
    ),
    command(
      diagram.folding ? "Show repeats in the diagram" : "Fold repeats in the diagram",
      "f",
      () => diagram.fold(!diagram.folding),
      hint,
    ),
    ...(diagram.hidden.size === 0
      ? []
      : [command("Show all lanes", "", () => diagram.showAll(), hint)]),
    command(
      "Copy a link to the conversation",
      "",
      () => void copyLink(console, "conversation", id),
    ),
    command("Export the conversation as JSON", "", () => (open.wanted = "json"), hint),
    command("Export the conversation as Markdown", "", () => (open.wanted = "md"), hint),
    command("Export the diagram as SVG", "", () => (open.wanted = "svg"), hint),
  ];
}
