import { copyText } from "../parts/clipboard";
import { linkTo, type Link } from "../parts/link";
import type { Console } from "../state/console.svelte";

/** Copies a link that leads to this, and tells how that went. */
export async function copyLink(
  { notices }: Pick<Console, "notices">,
  kind: Link["kind"],
  id: string,
): Promise<void> {
  const copied = await copyText(linkTo(kind, id));
  notices.show(copied ? "The link is copied." : "The link could not be copied.");
}
