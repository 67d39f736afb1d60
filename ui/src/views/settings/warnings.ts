import { texts } from "../../state/setting-value";

/** Whether an address such as `0.0.0.0:7892` can be reached from other machines. */
export function reachable(listen: string): boolean {
  const host = /^\[(.*)\]/.exec(listen)?.[1] ?? listen.replace(/:[^:]*$/, "");
  return host !== "" && host !== "localhost" && host !== "::1" && !/^127\.[\d.]+$/.test(host);
}

/** What a careful operator would be told before choosing this value; none for most. */
export function warning(key: string, value: unknown): string | null {
  switch (key) {
    case "listen":
      return typeof value === "string" && reachable(value)
        ? "Other machines can reach this address. The broker starts there only with a certificate (Connection security) and where the bus requires a token (Doors)."
        : null;
    case "durability.synchronous":
      return value === "normal"
        ? "With a loss of power, messages that were acknowledged in the last moments can be lost. That is the one promise the broker makes to every sender."
        : null;
    case "aacp.open":
      return value === true
        ? "Whoever runs on this machine is believed about who it is, and can read mail that is not its own. For trying things out only."
        : null;
    case "discovery.admit":
      return value === "auto"
        ? "Everyone on the network who signs an announcement becomes an agent here, without you being asked."
        : null;
    case "discovery.interfaces":
      return texts(value).some((each) => each !== "lo")
        ? "On these networks others learn that this broker is here, and can announce themselves."
        : null;
    case "default_handler.command":
      return texts(value).length > 0
        ? "Whoever may send to a topic that nobody listens to has this program started on this machine."
        : null;
    default:
      return null;
  }
}
