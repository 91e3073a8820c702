import { InvalidArgumentError } from 'commander';

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Parses a duration such as `90s`, `15m`, `24h`, `7d` or `2w` into milliseconds. @throws InvalidArgumentError */
export function parseDuration(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,9}(?:\.\d+)?)(ms|s|m|h|d|w)$/.exec(text.trim()) ?? [];
  const durationMs = Number(amount) * (units[unit] ?? Number.NaN);
  if (durationMs > 0) return durationMs;
  throw new InvalidArgumentError('It must be a duration such as 90s, 15m, 24h, 7d or 2w.');
}

/** Parses a duration into whole seconds, at least one. @throws InvalidArgumentError */
export function parseSeconds(text: string): number {
  return Math.max(1, Math.round(parseDuration(text) / 1000));
}

/** Parses an end: a duration from now, such as `90d`, or ISO 8601. @throws InvalidArgumentError */
export function parseEnd(text: string): Date {
  if (/^[\d.]+(ms|s|m|h|d|w)$/.test(text)) return new Date(Date.now() + parseDuration(text));
  const at = new Date(/^\d{4}-\d{2}-\d{2}/.test(text) ? text : Number.NaN);
  if (!Number.isNaN(at.getTime())) return at;
  throw new InvalidArgumentError(
    'It must be a duration from now, such as 12h or 90d, or a time such as 2026-12-31.',
  );
}

/** Parses a time: a duration before now, such as `24h`, or ISO 8601. @throws InvalidArgumentError */
export function parseTime(text: string): Date {
  if (/^\d{4}-\d{2}-\d{2}/.test(text)) {
    const at = new Date(text);
    if (!Number.isNaN(at.getTime())) return at;
  } else if (/^[\d.]+(ms|s|m|h|d|w)$/.test(text)) {
    return new Date(Date.now() - parseDuration(text));
  }
  throw new InvalidArgumentError(
    'It must be a duration before now, such as 24h or 7d, or a time such as 2026-01-05 or 2026-01-05T10:00:00Z.',
  );
}
