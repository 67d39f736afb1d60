/**
 * A word for a POSIX shell: it comes out as it went in, whatever is in it. Only text without NUL can be
 * handed to a program at all.
 */
export function quote(word: string): string {
  if (/^[A-Za-z0-9_@%+:,./][A-Za-z0-9_@%+=:,./-]*$/.test(word)) return word;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
