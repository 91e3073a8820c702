import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto';
import { LogError, malformed, parseBase64, shown, toBase64 } from './log-error.ts';

/**
 * Kinds of keys: `log` signs the text of a note with Ed25519; `witness` signs a checkpoint with a time, as
 * `cosignature/v1` of C2SP tlog-cosignature.
 */
export type KeyKind = 'log' | 'witness';

/** Bytes that name the type of a signature in keys (C2SP signed-note). */
const typeBytes = { log: 0x01, witness: 0x04 } as const;

const keyBytes = 32;
const signatureBytes = 64;
const timeBytes = 8;

/** Beginnings of the DER encodings of Ed25519 keys (RFC 8410), which their 32 bytes follow. */
const publicDer = Buffer.from('302a300506032b6570032100', 'hex');
const privateDer = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Maximum size in bytes and maximum number of signatures of a note that is read. */
const maxNoteBytes = 1_000_000;
const maxSignatures = 100;

/** A public key under a name, for verifying signatures. */
export interface VerifierKey {
  readonly kind: KeyKind;
  readonly name: string;
  /** Four bytes as a number, from name, kind and key. It distinguishes keys, and is no proof. */
  readonly id: number;
  readonly publicKey: KeyObject;
  /** The key as text: `<name>+<hex of the id>+<base64>`. */
  readonly text: string;
}

/** A private key under a name, for signing. */
export interface SignerKey {
  readonly kind: KeyKind;
  readonly name: string;
  readonly id: number;
  readonly privateKey: KeyObject;
  readonly verifierKey: VerifierKey;
}

/** A signature line of a note. */
export interface NoteSignature {
  readonly name: string;
  readonly keyId: number;
  /** The bytes after the key id. */
  readonly signature: Uint8Array;
}

/** Text with signatures below it (C2SP signed-note). */
export interface SignedNote {
  /** The signed text, which ends in a newline. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/** A signature that is valid, of a key that was given. */
export interface VerifiedSignature {
  readonly key: VerifierKey;
  /** Time of a cosignature, in Unix seconds. */
  readonly time?: number;
}

/** Options for {@link createKey}. */
export interface CreateKeyOptions {
  /** Private key of Ed25519, of 32 bytes; random by default. */
  readonly seed?: Uint8Array;
}

/**
 * Creates a key pair.
 *
 * @param name - name of the log or the witness: a URL without scheme, such as `actlog.example.com/log/acme`
 * @returns the verifier key to give to others, and the signer key, which is a secret
 * @throws LogError `malformed` when the name is empty or contains a space or a plus sign, or when the seed does not have
 *   32 bytes
 */
export function createKey(
  name: string,
  kind: KeyKind = 'log',
  { seed = randomBytes(keyBytes) }: CreateKeyOptions = {},
): { verifierKey: string; signerKey: string } {
  requireKeyName(name);
  if (seed.length !== keyBytes) {
    throw malformed('The seed of a key', `must have ${keyBytes} bytes, got ${seed.length}.`);
  }
  const key = Buffer.concat([privateDer, seed]);
  const publicKey = createPublicKey(createPrivateKey({ key, format: 'der', type: 'pkcs8' }));
  const { text, id } = verifierKeyOf(name, kind, publicKey);
  const secret = toBase64(Buffer.concat([Uint8Array.of(typeBytes[kind]), seed]));
  return { verifierKey: text, signerKey: `PRIVATE+KEY+${name}+${hexOf(id)}+${secret}` };
}

/**
 * Parses a verifier key, `<name>+<hex of the id>+<base64>`.
 *
 * @throws LogError `malformed` when it is anything else, or of another algorithm than Ed25519
 */
export function parseVerifierKey(text: string): VerifierKey {
  const [, name = '', id = '', encoded = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text) ?? [];
  if (encoded === '') {
    throw malformed('A verifier key', `must be "<name>+<8 hex digits>+<base64>", got ${shown(text)}.`);
  }
  requireKeyName(name);
  const { kind, key } = parseKeyMaterial('The verifier key', encoded);
  const publicKey = createPublicKey({
    key: Buffer.concat([publicDer, key]),
    format: 'der',
    type: 'spki',
  });
  const verifierKey = verifierKeyOf(name, kind, publicKey);
  if (hexOf(verifierKey.id) !== id) {
    throw malformed(
      'The id of the verifier key',
      `must be ${hexOf(verifierKey.id)}, got ${id}; copy the key again.`,
    );
  }
  return verifierKey;
}

/**
 * Parses a signer key, `PRIVATE+KEY+<name>+<hex of the id>+<base64>`.
 *
 * @throws LogError `malformed` when it is anything else; the message does not contain the key
 */
export function parseSignerKey(text: string): SignerKey {
  const [, name = '', id = '', encoded = ''] =
    /^PRIVATE\+KEY\+([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(text.trimEnd()) ?? [];
  if (encoded === '') {
    throw malformed('A signer key', 'must be "PRIVATE+KEY+<name>+<8 hex digits>+<base64>".');
  }
  requireKeyName(name);
  const { kind, key } = parseKeyMaterial('The signer key', encoded);
  const privateKey = createPrivateKey({
    key: Buffer.concat([privateDer, key]),
    format: 'der',
    type: 'pkcs8',
  });
  const verifierKey = verifierKeyOf(name, kind, createPublicKey(privateKey));
  if (hexOf(verifierKey.id) !== id) {
    throw malformed(
      'The id of the signer key',
      `must be ${hexOf(verifierKey.id)}, got ${id}; copy the key again.`,
    );
  }
  return { kind, name, id: verifierKey.id, privateKey, verifierKey };
}

/** Decodes the type and the key. The text may be a secret, so no message contains it. */
function parseKeyMaterial(field: string, encoded: string): { kind: KeyKind; key: Uint8Array } {
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.toString('base64') !== encoded) {
    throw malformed(field, 'must end in standard Base64 with padding; copy the key again.');
  }
  const kind = (['log', 'witness'] as const).find((one) => typeBytes[one] === bytes[0]);
  if (!kind) {
    throw malformed(field, `must be of type 1 (Ed25519) or 4 (cosignature/v1), got type ${bytes[0]}.`);
  }
  if (bytes.length !== 1 + keyBytes) {
    throw malformed(field, `must have ${keyBytes} bytes after its type, got ${bytes.length - 1}.`);
  }
  return { kind, key: bytes.subarray(1) };
}

function verifierKeyOf(name: string, kind: KeyKind, publicKey: KeyObject): VerifierKey {
  const key = publicKey.export({ format: 'der', type: 'spki' }).subarray(publicDer.length);
  const material = Buffer.concat([Uint8Array.of(typeBytes[kind]), key]);
  const id = createHash('sha256').update(`${name}\n`).update(material).digest().readUInt32BE();
  return { kind, name, id, publicKey, text: `${name}+${hexOf(id)}+${toBase64(material)}` };
}

function hexOf(id: number): string {
  return id.toString(16).padStart(8, '0');
}

function isKeyName(name: string): boolean {
  return name !== '' && !/[\s+\p{Z}\p{Cc}]/u.test(name) && name.isWellFormed();
}

function requireKeyName(name: string): void {
  if (isKeyName(name)) return;
  throw malformed('The name of a key', `must not be empty or contain spaces or "+", got ${shown(name)}.`);
}

/**
 * Parses a note. No signature is verified: {@link openNote} does that.
 *
 * @throws LogError `malformed` when it does not have the format of C2SP signed-note
 */
export function parseNote(note: string): SignedNote {
  if (Buffer.byteLength(note) > maxNoteBytes) {
    throw malformed('A signed note', `must have at most ${maxNoteBytes} bytes.`);
  }
  if (!note.isWellFormed()) {
    throw malformed('A signed note', 'must be valid UTF-8; the file was damaged.');
  }
  if (/[^\n -\u{10ffff}]/u.test(note)) {
    throw malformed('A signed note', 'must not contain control characters but newlines; remove them.');
  }
  const split = note.lastIndexOf('\n\n');
  if (split === -1 || !note.endsWith('\n')) {
    throw malformed(
      'A signed note',
      'must be a text, an empty line and signature lines that end in newlines.',
    );
  }
  const lines = note.slice(split + 2, -1).split('\n');
  if (lines.length > maxSignatures) {
    throw malformed('A signed note', `must have at most ${maxSignatures} signatures, got ${lines.length}.`);
  }
  return { text: note.slice(0, split + 1), signatures: lines.map(parseSignatureLine) };
}

/**
 * Parses a signature line, without its newline.
 *
 * @throws LogError `malformed` when it is anything else
 */
export function parseSignatureLine(line: string): NoteSignature {
  const [dash, name = '', encoded = '', ...more] = line.split(' ');
  if (dash !== '—' || encoded === '' || more.length > 0 || !isKeyName(name)) {
    throw malformed('A signature line', `must be "— <name> <base64>", got ${shown(line)}.`);
  }
  const bytes = Buffer.from(parseBase64('The signature', encoded));
  if (bytes.length < 5) {
    throw malformed('A signature', `must have four bytes of the key id and more, got ${bytes.length} bytes.`);
  }
  return { name, keyId: bytes.readUInt32BE(), signature: bytes.subarray(4) };
}

/** Returns the text of a note with its signatures. */
export function formatNote({ text, signatures }: SignedNote): string {
  return `${text}\n${signatures.map(formatSignatureLine).join('')}`;
}

/** Returns a signature line, with its newline. */
export function formatSignatureLine({ name, keyId, signature }: NoteSignature): string {
  const id = Buffer.alloc(4);
  id.writeUInt32BE(keyId);
  return `— ${name} ${toBase64(Buffer.concat([id, signature]))}\n`;
}

/**
 * Signs the text of a note.
 *
 * @param time - Unix seconds in the cosignature; only for the key of a witness
 * @throws RangeError when the time is not a positive whole number
 */
export function signText(text: string, { kind, name, id, privateKey }: SignerKey, time = 0): NoteSignature {
  if (kind === 'log') return { name, keyId: id, signature: sign(null, Buffer.from(text), privateKey) };
  if (!Number.isSafeInteger(time) || time <= 0) {
    throw new RangeError(
      `\`time\` of a cosignature must be a positive whole number of seconds, got ${time}.`,
    );
  }
  const stamp = Buffer.alloc(timeBytes);
  stamp.writeBigUInt64BE(BigInt(time));
  const signature = sign(null, Buffer.from(cosignedText(text, BigInt(time))), privateKey);
  return { name, keyId: id, signature: Buffer.concat([stamp, signature]) };
}

function cosignedText(text: string, time: bigint): string {
  return `cosignature/v1\ntime ${time}\n${text}`;
}

/**
 * Verifies the signatures of a note by known keys, and ignores others. Of several by one key, the first counts.
 *
 * @returns the valid signatures, at least one
 * @throws LogError `untrusted` when no signature is by a known key, or when one by a known key is wrong
 */
export function openNote(note: SignedNote, keys: readonly VerifierKey[]): VerifiedSignature[] {
  const verified = new Map<VerifierKey, VerifiedSignature>();
  for (const signature of note.signatures) {
    const key = keys.find(({ name, id }) => name === signature.name && id === signature.keyId);
    if (!key) continue;
    const valid = verifySignature(note.text, signature, key);
    if (!valid) {
      throw new LogError(
        'untrusted',
        `The signature of ${key.name} (${hexOf(key.id)}) does not fit the text.`,
      );
    }
    if (!verified.has(key)) verified.set(key, valid);
  }
  if (verified.size > 0) return [...verified.values()];
  const signers = note.signatures.map(({ name, keyId }) => `${name} (${hexOf(keyId)})`).join(', ');
  const known = keys.map(({ name, id }) => `${name} (${hexOf(id)})`).join(', ') || 'no key';
  throw new LogError(
    'untrusted',
    `No known key has signed: expected ${known}, got signatures of ${signers}.`,
  );
}

/** Returns the signature as verified, or undefined if it does not fit. */
function verifySignature(
  text: string,
  { signature }: NoteSignature,
  key: VerifierKey,
): VerifiedSignature | undefined {
  if (key.kind === 'log') {
    const fits =
      signature.length === signatureBytes && verify(null, Buffer.from(text), key.publicKey, signature);
    return fits ? { key } : undefined;
  }
  if (signature.length !== timeBytes + signatureBytes) return undefined;
  const time = Buffer.from(signature).readBigUInt64BE();
  const signed = Buffer.from(cosignedText(text, time));
  // A witness never leaves the time out, and 2^53 is millions of years away.
  if (time === 0n || time > BigInt(Number.MAX_SAFE_INTEGER)) return undefined;
  return verify(null, signed, key.publicKey, signature.subarray(timeBytes))
    ? { key, time: Number(time) }
    : undefined;
}
