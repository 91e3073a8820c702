/** Formats an ISO 8601 time in the local time zone, as `2026-01-05 14:03:22`; returns other strings unchanged. */
export function localTime(text: string | null | undefined): string | undefined {
  if (text === null || text === undefined) return undefined;
  const at = new Date(text);
  if (Number.isNaN(at.getTime())) return text;
  const date = [at.getFullYear(), at.getMonth() + 1, at.getDate()].map(twoDigits).join('-');
  return `${date} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(twoDigits).join(':')}`;
}

function twoDigits(part: number): string {
  return String(part).padStart(2, '0');
}
