import { limits } from '@actlog/protocol';

const unprintable = /[\p{Cc}\p{Cs}]/gu;
const plain = /^[\x20-\x7e]{1,200}$/;

/**
 * Makes a string one that the service takes as an identifier (reference profile: 1 to 200 characters, no control
 * characters, no lone surrogates). A framework may hand over any name, and an event with a mended name is worth
 * more than one that the service refuses.
 *
 * @param fallback - stands in for an empty string
 */
export function toIdentifier(text: string, fallback: string): string {
  if (typeof text === 'string' && plain.test(text)) return text;
  const mended = textOf(text)
    .replace(unprintable, '\u{fffd}')
    .slice(0, limits.maxIdentifierLength)
    .toWellFormed();
  return mended === '' ? fallback : mended;
}

/** What JavaScript hands over as a name need not be one, nor have a text. */
function textOf(given: unknown): string {
  try {
    return String(given ?? '');
  } catch {
    return '';
  }
}
