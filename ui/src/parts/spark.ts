/** A line through the values, the largest at the top and nothing at the bottom. */
export function sparkPath(values: readonly number[], width: number, height: number): string {
  if (values.length < 2) return "";
  const inset = 1.5;
  const most = Math.max(1, ...values);
  const step = width / (values.length - 1);
  return values
    .map((value, i) => {
      const y = height - inset - (value / most) * (height - 2 * inset);
      return `${i === 0 ? "M" : "L"}${(i * step).toFixed(1)} ${y.toFixed(1)}`;
    })
    .join("");
}
