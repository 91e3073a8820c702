import { hash, hkdfSync, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { keyPrefixes } from '@actlog/protocol';

/** Kind of a key: for production or for tests. */
export type KeyKind = keyof typeof keyPrefixes;

/** Parts of a key that may be shown and stored. */
export interface ApiKeyIdentity {
  readonly kind: KeyKind;
  /** Identifies the key without revealing it. */
  readonly id: string;
  /** SHA-256 of the whole key, in hex. The secret has 190 bits, so a slow hash would add nothing. */
  readonly digest: string;
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const idLength = 10;
const secretLength = 32;
const checksumLength = 6;
const shape = new RegExp(
  `^al_(live|test)_([0-9A-Za-z]{${idLength}})[0-9A-Za-z]{${secretLength}}[0-9A-Za-z]{${checksumLength}}$`,
);

function randomText(length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}

/** Returns a CRC, by which secret scanners and the server distinguish keys from similar strings. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let place = 0; place < checksumLength; place += 1) {
    digits = alphabet[rest % alphabet.length] + digits;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}

/** Creates a key: prefix, id, secret, checksum. The whole key exists only in the return value. */
export function newApiKey(kind: KeyKind): string {
  const text = keyPrefixes[kind] + randomText(idLength) + randomText(secretLength);
  return text + checksum(text);
}

/** Returns the key for a purpose: the same for one seed, and as hard to guess as the seed. */
export function derivedApiKey(kind: KeyKind, seed: Buffer, purpose: string): string {
  const bytes = Buffer.from(
    hkdfSync('sha256', seed, 'actlog', `api key ${purpose}`, (idLength + secretLength) * 4),
  );
  let text: string = keyPrefixes[kind];
  for (let at = 0; at < bytes.length; at += 4) text += alphabet[bytes.readUInt32BE(at) % alphabet.length];
  return text + checksum(text);
}

/** Returns the parts of a key, or `undefined` if the text is not a key. */
export function identifyApiKey(key: string): ApiKeyIdentity | undefined {
  const parts = shape.exec(key);
  if (!parts || !key.endsWith(checksum(key.slice(0, -checksumLength)))) return undefined;
  return { kind: parts[1] as KeyKind, id: parts[2] as string, digest: hash('sha256', key) };
}
