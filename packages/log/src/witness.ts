import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseAddCheckpoint } from './add-checkpoint.ts';
import { openCheckpoint, parseCheckpoint, type VerifiedCheckpoint } from './checkpoint.ts';
import { LogError } from './log-error.ts';
import { verifyConsistency } from './merkle.ts';
import {
  formatNote,
  formatSignatureLine,
  parseNote,
  type SignerKey,
  signText,
  type VerifierKey,
} from './signed-note.ts';

/** A checkpoint that a witness cosigned, with its place in the order of all that it stored for the log. */
export interface WitnessedCheckpoint {
  readonly revision: number;
  /** The checkpoint with the signature of the log and the cosignature. */
  readonly note: string;
}

/** Durable memory of a witness: the last checkpoint of each log. */
export interface WitnessStore {
  /** Returns the last checkpoint of a log; undefined if there is none. */
  read(origin: string): Promise<WitnessedCheckpoint | undefined>;
  /**
   * Stores the next checkpoint of a log durably, if its revision still is the next one: of racing calls, one succeeds.
   *
   * @returns `false` if another checkpoint has been stored since the last one was read; nothing is stored then
   */
  write(origin: string, checkpoint: WitnessedCheckpoint): Promise<boolean>;
}

/** Options for a {@link Witness}. */
export interface WitnessOptions {
  /** Key of kind `witness`. */
  readonly key: SignerKey;
  /** Keys of the logs that it cosigns. The name of a key is the origin of its log. */
  readonly logs: readonly VerifierKey[];
  readonly store: WitnessStore;
  /** Returns the time in Unix milliseconds; `Date.now` by default. */
  readonly now?: () => number;
  /** Called with each checkpoint that a known log signed and that does not continue the last one: evidence against it. */
  readonly onRefused?: (refused: { readonly checkpoint: string; readonly reason: string }) => void;
}

/** Maximum bytes of an `add-checkpoint` request. */
const maxRequestBytes = 1_000_000;

/** An HTTP error in the words of C2SP tlog-witness. */
class Refusal extends Error {
  readonly status: number;
  readonly contentType: string;

  constructor(status: number, message: string, contentType = 'text/plain; charset=utf-8') {
    super(message);
    this.status = status;
    this.contentType = contentType;
  }
}

/**
 * A witness (C2SP tlog-witness): it cosigns checkpoints of known logs, and only those that continue the last one that it
 * cosigned. A log that removes or changes an entry gets no further cosignature.
 */
export class Witness {
  readonly #options: WitnessOptions;

  /** @throws TypeError when the key is not a witness key */
  constructor(options: WitnessOptions) {
    if (options.key.kind !== 'witness') {
      throw new TypeError(`\`key\` must be the key of a witness, got that of the log ${options.key.name}.`);
    }
    this.#options = options;
  }

  /**
   * Handles `POST <prefix>/add-checkpoint` and `GET <prefix>/<hash of the origin>/checkpoint`.
   *
   * @throws Error when the store fails; nothing was cosigned then
   */
  async fetch(request: Request): Promise<Response> {
    try {
      const { pathname } = new URL(request.url);
      if (pathname.endsWith('/add-checkpoint')) {
        requireMethod(request, 'POST');
        return await this.#add(await readBody(request));
      }
      const [, hash] = /\/([0-9a-f]{64})\/checkpoint$/.exec(pathname) ?? [];
      if (hash === undefined)
        throw new Refusal(404, 'Not found: POST /add-checkpoint or GET /<origin hash>/checkpoint.');
      requireMethod(request, 'GET');
      return await this.#latest(hash);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return textResponse(error.status, `${error.message}\n`, error.contentType);
    }
  }

  async #latest(hash: string): Promise<Response> {
    const origins = this.#options.logs.map(({ name }) => name);
    const origin = origins.find((name) => originHash(name) === hash);
    const last = origin === undefined ? undefined : await this.#options.store.read(origin);
    if (!last) throw new Refusal(404, 'No checkpoint of that log was cosigned.');
    return textResponse(200, last.note);
  }

  async #add(body: string): Promise<Response> {
    const request = orRefuse(400, () => parseAddCheckpoint(body));
    const { origin, size } = parseCheckpoint(parseNote(request.checkpoint).text);
    const keys = this.#options.logs.filter(({ name }) => name === origin);
    if (keys.length === 0) throw new Refusal(404, 'The log is not known to this witness.');
    const checkpoint = orRefuse(403, () => openCheckpoint(request.checkpoint, keys));
    if (request.oldSize > size)
      throw new Refusal(400, 'The old size must not exceed the size of the checkpoint.');
    return this.#cosign(checkpoint, request);
  }

  async #cosign(
    checkpoint: VerifiedCheckpoint,
    { oldSize, proof }: { readonly oldSize: number; readonly proof: readonly Uint8Array[] },
  ): Promise<Response> {
    const { key, store, now = Date.now, onRefused } = this.#options;
    const { origin, size, root } = checkpoint;
    const stored = await store.read(origin);
    const last = stored ? parseCheckpoint(parseNote(stored.note).text) : undefined;
    if (oldSize !== (last?.size ?? 0)) throw conflict(last?.size ?? 0);
    try {
      if (last) verifyConsistency({ oldSize, oldRoot: last.root, size, root, proof });
      else if (proof.length > 0) throw new LogError('unproven', 'From size 0 the proof must be empty.');
    } catch (error) {
      if (!LogError.is(error)) throw error;
      onRefused?.({ checkpoint: formatNote(checkpoint.note), reason: error.message });
      throw new Refusal(422, error.message);
    }
    const trusted = checkpoint.signatures.map((signature) => signature.key);
    const ofLog = checkpoint.note.signatures.filter((line) =>
      trusted.some(({ name, id }) => name === line.name && id === line.keyId),
    );
    const cosignature = signText(checkpoint.note.text, key, Math.floor(now() / 1000));
    const note = formatNote({ text: checkpoint.note.text, signatures: [...ofLog, cosignature] });
    // Before the response, so that no crash makes the witness forget what it has cosigned.
    if (!(await store.write(origin, { revision: (stored?.revision ?? 0) + 1, note }))) {
      const newest = await store.read(origin);
      throw conflict(newest ? parseCheckpoint(parseNote(newest.note).text).size : 0);
    }
    return textResponse(200, formatSignatureLine(cosignature));
  }
}

/** Returns the hash under which a witness serves the last checkpoint of a log. */
export function originHash(origin: string): string {
  return createHash('sha256').update(origin).digest('hex');
}

/** A handler of requests, as {@link Witness.fetch}. */
export type FetchHandler = (request: Request) => Promise<Response>;

/**
 * Returns a listener for `http.createServer` that serves a handler of `Request`s.
 *
 * @param onError - called with an error of the handler, which becomes a 500
 */
export function nodeListener(
  handle: FetchHandler,
  onError: (error: unknown) => void,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (incoming, outgoing) => {
    const respond = async () => {
      const request = requestOf(incoming);
      const response = request
        ? await handle(request)
        : textResponse(400, 'The method or the path is not valid.\n');
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      outgoing.end(Buffer.from(await response.arrayBuffer()));
    };
    respond().catch((error: unknown) => {
      // The client closed the connection before it had sent its request.
      if (incoming.destroyed && !incoming.complete) return;
      onError(error);
      if (!outgoing.headersSent) outgoing.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' });
      outgoing.end('Internal error; see the output of the witness.\n');
    });
  };
}

/** Returns a request of Node.js in the form of `fetch`; undefined if `fetch` cannot have such a request. */
function requestOf(incoming: IncomingMessage): Request | undefined {
  const hasBody = incoming.method !== 'GET' && incoming.method !== 'HEAD';
  try {
    return new Request(new URL(incoming.url ?? '/', 'http://witness.invalid'), {
      method: incoming.method ?? 'GET',
      ...(hasBody ? { body: incoming as unknown as ReadableStream, duplex: 'half' } : {}),
    } as RequestInit);
  } catch {
    return undefined;
  }
}

function orRefuse<Result>(status: number, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (LogError.is(error)) throw new Refusal(error.code === 'unproven' ? 422 : status, error.message);
    throw error;
  }
}

function conflict(size: number): Refusal {
  return new Refusal(409, String(size), 'text/x.tlog.size');
}

function requireMethod(request: Request, method: string): void {
  if (request.method !== method) throw new Refusal(405, `The method must be ${method}.`);
}

async function readBody(request: Request): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of request.body ?? []) {
    length += part.length;
    if (length > maxRequestBytes)
      throw new Refusal(413, `The request must have at most ${maxRequestBytes} bytes.`);
    parts.push(part);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(parts));
  } catch {
    throw new Refusal(400, 'The request must be UTF-8.');
  }
}

function textResponse(status: number, text: string, contentType = 'text/plain; charset=utf-8'): Response {
  return new Response(text, { status, headers: { 'content-type': contentType } });
}
