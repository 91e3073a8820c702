/** Returns the slope per step of a line through equidistant points (least squares). */
export function slopeOf(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  let products = 0;
  let squares = 0;
  for (const [index, value] of values.entries()) {
    products += (index - middle) * value;
    squares += (index - middle) ** 2;
  }
  return squares === 0 ? 0 : products / squares;
}
