/** A line through the values, the largest at the top and nothing at the bottom; broken where one is null. */
export function sparkPath(
  values: readonly (number | null)[],
  width: number,
  height: number,
): string {
  if (values.length < 2) return "";
  const inset = 1.5;
  const most = values.reduce<number>((max, value) => Math.max(max, value ?? 0), 1);
  const step = width / (values.length - 1);
  let path = "";
  let down = false;
  values.forEach((value, i) => {
    if (value === null) {
      // What stands alone between two gaps is a dot.
      if (down && values[i - 2] === null) path += "h.1";
      down = false;
      return;
    }
    const y = height - inset - (value / most) * (height - 2 * inset);
    path += `${down ? "L" : "M"}${(i * step).toFixed(1)} ${y.toFixed(1)}`;
    down = true;
  });
  return path;
}
