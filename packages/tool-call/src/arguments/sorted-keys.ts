/** Number of keys sorted at once: about a millisecond. */
const runLength = 4096;

/**
 * Sorts property names by UTF-16 code units (RFC 8785, section 3.2.3) in steps: sorts runs with `Array.prototype.sort`
 * and then merges them.
 */
export function* sortedInSlices(keys: string[]): Generator<string, string[], void> {
  if (keys.length <= runLength) return keys.sort();
  let runs: string[][] = [];
  for (let start = 0; start < keys.length; start += runLength) {
    runs.push(keys.slice(start, start + runLength).sort());
    yield '';
  }
  while (runs.length > 1) {
    const merged: string[][] = [];
    for (let index = 0; index < runs.length; index += 2) {
      merged.push(yield* mergeRuns(runs[index] as string[], runs[index + 1] ?? []));
    }
    runs = merged;
  }
  return runs[0] as string[];
}

function* mergeRuns(left: string[], right: string[]): Generator<string, string[], void> {
  const merged: string[] = [];
  let fromLeft = 0;
  let fromRight = 0;
  while (fromLeft < left.length && fromRight < right.length) {
    const isLeft = (left[fromLeft] as string) <= (right[fromRight] as string);
    const next = isLeft ? left[fromLeft++] : right[fromRight++];
    if (merged.push(next as string) % runLength === 0) yield '';
  }
  for (; fromLeft < left.length; fromLeft += 1) merged.push(left[fromLeft] as string);
  for (; fromRight < right.length; fromRight += 1) merged.push(right[fromRight] as string);
  return merged;
}
