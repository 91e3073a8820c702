import { parseCheckpoint } from './checkpoint.ts';
import { LogError, malformed, parseDecimal, parseHash, shown, toBase64 } from './log-error.ts';
import {
  formatNote,
  openNote,
  parseNote,
  parseSignatureLine,
  type VerifiedSignature,
  type VerifierKey,
} from './signed-note.ts';

/** A request to a witness to cosign a checkpoint (C2SP tlog-witness, `add-checkpoint`). */
export interface AddCheckpoint {
  /** Size of the checkpoint that the witness cosigned last; 0 for none. */
  readonly oldSize: number;
  /** Consistency proof from the old size. */
  readonly proof: readonly Uint8Array[];
  /** Signed checkpoint. */
  readonly checkpoint: string;
}

/** Maximum number of hashes in a consistency proof. */
const maxProofHashes = 63;

/** Returns the body of an `add-checkpoint` request. */
export function formatAddCheckpoint({ oldSize, proof, checkpoint }: AddCheckpoint): string {
  return [`old ${oldSize}`, ...proof.map(toBase64), '', checkpoint].join('\n');
}

/**
 * Parses the body of an `add-checkpoint` request.
 *
 * @throws LogError `malformed` when it does not have the format of C2SP tlog-witness
 */
export function parseAddCheckpoint(body: string): AddCheckpoint {
  const split = body.indexOf('\n\n');
  if (split === -1) throw malformed('The request', 'must have an empty line before the checkpoint.');
  const [old = '', ...proof] = body.slice(0, split).split('\n');
  if (!old.startsWith('old '))
    throw malformed('The request', `must begin with "old <size>", got ${shown(old)}.`);
  if (proof.length > maxProofHashes) {
    throw malformed(
      'The consistency proof',
      `must have at most ${maxProofHashes} hashes, got ${proof.length}.`,
    );
  }
  const checkpoint = body.slice(split + 2);
  parseCheckpoint(parseNote(checkpoint).text);
  return {
    oldSize: parseDecimal('The old size', old.slice(4)),
    proof: proof.map((hash) => parseHash('A hash of the consistency proof', hash)),
    checkpoint,
  };
}

/** Response of a witness: its cosignatures, or the size from which it needs a consistency proof. */
export type WitnessResponse =
  | { readonly cosigned: string; readonly signatures: readonly VerifiedSignature[] }
  | { readonly knownSize: number };

/** Options for {@link requestCosignature}. */
export interface RequestCosignatureOptions {
  /** Sends the request; the global `fetch` by default. */
  readonly fetch?: typeof fetch;
  /** Ends the request early. */
  readonly signal?: AbortSignal;
}

const maxResponseBytes = 1_000_000;

/**
 * Sends a checkpoint to a witness, and verifies the cosignatures that it returns.
 *
 * @param url - submission prefix of the witness
 * @param keys - keys of the witness; signatures of other keys are left out
 * @returns the checkpoint with the new cosignatures; or the size that the witness cosigned last, if it is not `oldSize`
 * @throws LogError `untrusted` when the witness refuses the checkpoint, or returns no valid signature; the message has
 *   its status and text
 */
export async function requestCosignature(
  url: string,
  request: AddCheckpoint,
  keys: readonly VerifierKey[],
  { fetch: send = fetch, signal }: RequestCosignatureOptions = {},
): Promise<WitnessResponse> {
  const response = await send(`${url.replace(/\/+$/, '')}/add-checkpoint`, {
    method: 'POST',
    body: formatAddCheckpoint(request),
    redirect: 'error',
    ...(signal ? { signal } : {}),
  });
  const text = await readText(response);
  if (response.status === 409)
    return { knownSize: parseDecimal('The size in the 409 of a witness', text.trimEnd()) };
  if (response.status !== 200) {
    throw new LogError(
      'untrusted',
      `The witness at ${url} refused the checkpoint with ${response.status}: ${shown(text.trim())}.`,
    );
  }
  const note = parseNote(request.checkpoint);
  if (!text.endsWith('\n'))
    throw malformed('The response of a witness', 'must be signature lines that end in newlines.');
  const lines = text.slice(0, -1).split('\n').map(parseSignatureLine);
  const known = lines.filter((line) => keys.some(({ name, id }) => name === line.name && id === line.keyId));
  const signatures = openNote({ text: note.text, signatures: known }, keys);
  const cosigned = formatNote({ text: note.text, signatures: [...note.signatures, ...known] });
  return { cosigned, signatures };
}

async function readText(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > maxResponseBytes)
      throw malformed('The response of a witness', `must have at most ${maxResponseBytes} bytes.`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
