/** Gives the reader a file with this text. */
export function download(name: string, text: string, type = "application/jsonl"): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  // The browser reads it after this; once it has begun, the address is no longer needed.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
