/** Formats milliseconds since the start of the session: +1.204 s, +0:03:07. */
export function sinceStart(ms: number): string {
  if (Math.abs(ms) < 60_000) return `${ms < 0 ? '' : '+'}${(ms / 1000).toFixed(3)} s`;
  const seconds = Math.trunc(ms / 1000);
  const [hours, minutes] = [Math.trunc(seconds / 3600), Math.trunc(seconds / 60) % 60];
  const two = (number: number) => String(Math.abs(number)).padStart(2, '0');
  return `${ms < 0 ? '-' : '+'}${Math.abs(hours)}:${two(minutes)}:${two(seconds % 60)}`;
}

/** Formats the time of an event from the start of its session; its own time if either is not known. */
export function timeSinceStart(at: string | undefined, startedAt: string | undefined): string {
  const ms = Date.parse(at ?? '') - Date.parse(startedAt ?? '');
  return Number.isNaN(ms) ? (at ?? '') : sinceStart(ms);
}
