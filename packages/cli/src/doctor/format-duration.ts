const units = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1000, 'second'],
] as const;

/** Formats a duration in its largest unit, such as `3 hours`. */
export function formatDuration(durationMs: number): string {
  const [unitMs, name] = units.find(([ms]) => durationMs >= ms) ?? [1000, 'second'];
  const count = Math.round(durationMs / unitMs);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}
