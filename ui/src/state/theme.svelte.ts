import { recall, remember } from "./remembered";

export type Look = "light" | "dark";
export type Choice = Look | "system";

/** Light or dark: the system's choice until the operator makes one. */
export class Theme {
  choice = $state<Choice>(readChoice());
  #system = $state<Look>("dark");
  look = $derived<Look>(this.choice === "system" ? this.#system : this.choice);

  /** Follows the system and the operator from now on. Returns how to stop. */
  start(page: Window = window): () => void {
    const light = page.matchMedia("(prefers-color-scheme: light)");
    const follow = () => {
      this.#system = light.matches ? "light" : "dark";
      this.#apply(page);
    };
    follow();
    light.addEventListener("change", follow);
    return () => light.removeEventListener("change", follow);
  }

  choose(choice: Choice): void {
    this.choice = choice;
    remember("theme", choice);
    this.#apply(window);
  }

  toggle(): void {
    this.choose(this.look === "dark" ? "light" : "dark");
  }

  #apply(page: Window): void {
    page.document.documentElement.dataset.theme = this.look;
  }
}

function readChoice(): Choice {
  const kept = recall("theme");
  return kept === "light" || kept === "dark" ? kept : "system";
}
