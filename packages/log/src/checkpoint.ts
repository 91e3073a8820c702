import { LogError, malformed, parseDecimal, parseHash, shown, toBase64 } from './log-error.ts';
import { emptyRoot, equalBytes } from './merkle.ts';
import {
  formatNote,
  openNote,
  parseNote,
  type SignedNote,
  type SignerKey,
  signText,
  type VerifiedSignature,
  type VerifierKey,
} from './signed-note.ts';

/** The head of a log: its name, and the size and root of its tree (C2SP tlog-checkpoint). */
export interface Checkpoint {
  /** Name of the log, such as `actlog.example.com/log/acme`. */
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
  /** Lines after the root. actlog writes none, and ignores any that it reads. */
  readonly extensions: readonly string[];
}

/** A checkpoint whose signatures were verified. */
export interface VerifiedCheckpoint extends Checkpoint {
  readonly note: SignedNote;
  /** Valid signatures of known logs and witnesses. */
  readonly signatures: readonly VerifiedSignature[];
}

/** Returns the text of a checkpoint without signatures. */
export function formatCheckpoint({ origin, size, root, extensions }: Checkpoint): string {
  return [origin, String(size), toBase64(root), ...extensions].map((line) => `${line}\n`).join('');
}

/**
 * Parses the text of a checkpoint.
 *
 * @throws LogError `malformed` when it does not have the format of C2SP tlog-checkpoint
 */
export function parseCheckpoint(text: string): Checkpoint {
  if (!text.endsWith('\n')) throw malformed('A checkpoint', 'must end in a newline.');
  const [origin = '', size, root, ...extensions] = text.slice(0, -1).split('\n');
  if (size === undefined || root === undefined) {
    throw malformed('A checkpoint', `must have lines for origin, size and root, got ${shown(text)}.`);
  }
  if (origin === '') throw malformed('The origin of a checkpoint', 'must not be empty.');
  if (extensions.includes('')) throw malformed('A checkpoint', 'must not have an empty line; remove it.');
  return {
    origin,
    size: parseDecimal('The size of a checkpoint', size),
    root: parseHash('The root of a checkpoint', root),
    extensions,
  };
}

/** Returns a signed checkpoint of a log, whose origin is the name of the key. */
export function signCheckpoint(size: number, root: Uint8Array, key: SignerKey): string {
  if (key.kind !== 'log')
    throw new TypeError(`\`key\` must be the key of a log, got that of the witness ${key.name}.`);
  const text = formatCheckpoint({ origin: key.name, size, root, extensions: [] });
  return formatNote({ text, signatures: [signText(text, key)] });
}

/**
 * Verifies a signed checkpoint: a known log, whose name is the origin, must have signed it. Valid cosignatures of known
 * witnesses are returned, and signatures of unknown keys are ignored.
 *
 * @throws LogError `malformed` when it is not a checkpoint; `untrusted` when no known log has signed it, or when a
 *   signature of a known key is wrong; `unproven` when a tree without entries has another root than it must
 */
export function openCheckpoint(
  note: string,
  logs: readonly VerifierKey[],
  witnesses: readonly VerifierKey[] = [],
): VerifiedCheckpoint {
  const signed = parseNote(note);
  const checkpoint = parseCheckpoint(signed.text);
  const ofOrigin = logs.filter(({ name, kind }) => kind === 'log' && name === checkpoint.origin);
  if (ofOrigin.length === 0) {
    const known = logs.map(({ name }) => name).join(', ') || 'no log';
    throw new LogError(
      'untrusted',
      `The checkpoint is of the log ${shown(checkpoint.origin)}, and keys are known of ${known}.`,
    );
  }
  const signatures = openNote(signed, [...ofOrigin, ...witnesses.filter(({ kind }) => kind === 'witness')]);
  if (!signatures.some(({ key }) => key.kind === 'log')) {
    throw new LogError('untrusted', `The log ${checkpoint.origin} itself has not signed the checkpoint.`);
  }
  if (checkpoint.size === 0 && !equalBytes(checkpoint.root, emptyRoot)) {
    throw new LogError('unproven', 'The root of a checkpoint of size 0 must be the hash of nothing.');
  }
  return { ...checkpoint, note: signed, signatures };
}
