import { openCheckpoint, type VerifiedCheckpoint } from './checkpoint.ts';
import { type LogRecord, type RecordKind, recordEntry, recordKinds, saltBytes } from './leaf.ts';
import { LogError, malformed, parseBase64, parseDecimal, parseHash, shown, toBase64 } from './log-error.ts';
import { leafHash, verifyInclusion } from './merkle.ts';
import type { TrustPolicy } from './policy.ts';

/** A proof that a log has an entry (C2SP tlog-proof), to be verified offline. */
export interface TlogProof {
  readonly index: number;
  /** Inclusion proof, from the leaf's sibling to the root's child. */
  readonly hashes: readonly Uint8Array[];
  /** Signed checkpoint with the cosignatures of witnesses. */
  readonly checkpoint: string;
}

/**
 * Evidence that a record is in a log, as JSON: what is needed to compute its entry, and a proof of the entry in the
 * format of C2SP tlog-proof, which contains the index, the inclusion proof and the signed checkpoint.
 */
export interface Receipt {
  readonly kind: RecordKind;
  readonly id: string;
  /** Base64 of the record's salt. */
  readonly salt: string;
  /** Text of the proof. */
  readonly proof: string;
}

/** A record that a log provably has. */
export interface VerifiedReceipt {
  readonly index: number;
  readonly entry: Uint8Array;
  readonly checkpoint: VerifiedCheckpoint;
}

const proofHeader = 'c2sp.org/tlog-proof@v1';

/** Maximum number of hashes in a proof, which is more than a log can have. */
const maxProofHashes = 63;

/** Returns a proof in the format of C2SP tlog-proof. */
export function formatProof({ index, hashes, checkpoint }: TlogProof): string {
  return [proofHeader, `index ${index}`, ...hashes.map(toBase64), '', checkpoint].join('\n');
}

/**
 * Parses a proof.
 *
 * @throws LogError `malformed` when it does not have the format of C2SP tlog-proof
 */
export function parseProof(text: string): TlogProof {
  const split = text.indexOf('\n\n');
  const [header, ...lines] = text.slice(0, Math.max(split, 0)).split('\n');
  if (header !== proofHeader) {
    throw malformed(
      'A proof',
      `must begin with the line "${proofHeader}", got ${shown(text.split('\n')[0] ?? '')}.`,
    );
  }
  // Extra data is optional, not authenticated and not needed here.
  if (lines[0]?.startsWith('extra '))
    parseBase64('The extra data of a proof', (lines.shift() ?? '').slice(6));
  const [index = '', ...hashes] = lines;
  if (!index.startsWith('index '))
    throw malformed('A proof', `must have a line "index <number>", got ${shown(index)}.`);
  if (hashes.length > maxProofHashes) {
    throw malformed('A proof', `must have at most ${maxProofHashes} hashes, got ${hashes.length}.`);
  }
  return {
    index: parseDecimal('The index of a proof', index.slice(6)),
    hashes: hashes.map((hash) => parseHash('A hash of a proof', hash)),
    checkpoint: text.slice(split + 2),
  };
}

/**
 * Parses a receipt from JSON that was parsed.
 *
 * @throws LogError `malformed` when a field is missing or of another type
 */
export function parseReceipt(value: unknown): Receipt {
  const { kind, id, salt, proof } = (value ?? {}) as Record<string, unknown>;
  if (!recordKinds.some((one) => one === kind)) {
    throw malformed('`kind` of a receipt', `must be one of ${recordKinds.join(', ')}.`);
  }
  for (const [name, field] of Object.entries({ id, salt, proof })) {
    if (typeof field !== 'string')
      throw malformed(`\`${name}\` of a receipt`, `must be a string, got ${typeof field}.`);
  }
  return { kind, id, salt, proof } as Receipt;
}

/** Returns the receipt of a record. */
export function createReceipt(
  record: Pick<LogRecord, 'kind' | 'id'>,
  salt: Uint8Array,
  proof: TlogProof,
): Receipt {
  return { kind: record.kind, id: record.id, salt: toBase64(salt), proof: formatProof(proof) };
}

/**
 * Verifies receipts under one trust policy. Receipts of one checkpoint are verified with a single check of its
 * signatures.
 */
export class ReceiptVerifier {
  readonly #policy: TrustPolicy;
  readonly #opened = new Map<string, VerifiedCheckpoint>();

  constructor(policy: TrustPolicy) {
    this.#policy = policy;
  }

  /** Checkpoints of the receipts so far. */
  get checkpoints(): readonly VerifiedCheckpoint[] {
    return [...this.#opened.values()];
  }

  /**
   * Verifies that the log has a record.
   *
   * @param row - the record's fields, as they are now
   * @throws LogError `malformed` when the receipt or its checkpoint cannot be read; `untrusted` when the log, or as many
   *   witnesses as the policy demands, have not signed the checkpoint; `unproven` when the record was changed or the
   *   proof is wrong
   */
  verify(receipt: Receipt, row: unknown): VerifiedReceipt {
    const proof = parseProof(receipt.proof);
    const checkpoint = this.#open(proof.checkpoint);
    const salt = parseBase64('`salt` of a receipt', receipt.salt);
    if (salt.length !== saltBytes) {
      throw malformed(
        '`salt` of a receipt',
        `must be ${saltBytes} bytes in Base64, got ${salt.length} bytes.`,
      );
    }
    const entry = recordEntry({ kind: receipt.kind, id: receipt.id, row }, salt);
    const { index } = proof;
    try {
      verifyInclusion({ ...checkpoint, index, leaf: leafHash(entry), proof: proof.hashes });
    } catch (cause) {
      if (!LogError.is(cause)) throw cause;
      throw new LogError(
        'unproven',
        `The ${receipt.kind} ${shown(receipt.id)} is not entry ${index} of ${checkpoint.origin}: the record, its salt or its proof was changed.`,
        { cause },
      );
    }
    return { index, entry, checkpoint };
  }

  #open(note: string): VerifiedCheckpoint {
    const known = this.#opened.get(note);
    if (known) return known;
    const checkpoint = openTrustedCheckpoint(note, this.#policy);
    this.#opened.set(note, checkpoint);
    return checkpoint;
  }
}

/**
 * Verifies a signed checkpoint under a policy, with the cosignatures that it demands.
 *
 * @throws LogError `malformed` or `untrusted`
 */
export function openTrustedCheckpoint(note: string, policy: TrustPolicy): VerifiedCheckpoint {
  const checkpoint = openCheckpoint(
    note,
    policy.logs.map(({ key }) => key),
    policy.witnesses.map(({ key }) => key),
  );
  if (policy.isSatisfiedBy(checkpoint.signatures)) return checkpoint;
  const cosigners = checkpoint.signatures
    .filter(({ key }) => key.kind === 'witness')
    .map(({ key }) => key.name);
  throw new LogError(
    'untrusted',
    `The checkpoint of ${checkpoint.origin} at ${checkpoint.size} entries needs cosignatures of ${policy.requirement}, got ${cosigners.join(', ') || 'none'}.`,
  );
}

/** Verifies one receipt: see {@link ReceiptVerifier}. */
export function verifyReceipt(receipt: Receipt, row: unknown, policy: TrustPolicy): VerifiedReceipt {
  return new ReceiptVerifier(policy).verify(receipt, row);
}
