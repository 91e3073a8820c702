import { limits } from '@actlog/protocol';

const unprintable = /[\p{Cc}\p{Cs}]/gu;
const plain = /^[\x20-\x7e]{1,200}$/;

/**
 * Converts a string to a valid identifier (reference profile: 1 to 200 characters, no control characters, no lone
 * surrogates). Frameworks may pass any name, and an event with a sanitized name is better than a rejected one.
 *
 * @param fallback - result for an empty string
 */
export function toIdentifier(text: string, fallback: string): string {
  if (typeof text === 'string' && plain.test(text)) return text;
  const sanitized = textOf(text)
    .replace(unprintable, '\u{fffd}')
    .slice(0, limits.maxIdentifierLength)
    .toWellFormed();
  return sanitized === '' ? fallback : sanitized;
}

/** Converts a value to a string. In JavaScript a name may be of any type, and its conversion may throw. */
function textOf(given: unknown): string {
  try {
    return String(given ?? '');
  } catch {
    return '';
  }
}

/**
 * Converts a string to a valid agent or session id. The service rejects `.` and `..`, which cannot be used in a URL
 * path, so their dots are replaced like unprintable characters.
 *
 * @param fallback - result for an empty string
 */
export function toResourceId(text: string, fallback: string): string {
  const id = toIdentifier(text, fallback);
  return id === '.' || id === '..' ? id.replaceAll('.', '\u{fffd}') : id;
}
