import type { Transform } from 'node:stream';
import { builtinModule } from '../platform.ts';
import type { BodySink } from '../response/api-response.ts';

/** A sink that buffers data until `finish` is called. */
export interface FinishingSink extends BodySink {
  finish(): Promise<void>;
}

/** Error thrown when a response has an encoding that this platform cannot decode. */
class UnknownEncoding extends Error {
  /** Recognized by `connectionFailure`, as the codes of decoders are. */
  get code(): string {
    return this.message;
  }
}

/**
 * Decodes a `Content-Encoding` (RFC 9110, section 8.4) in front of a sink. The client requests none, but a gateway may
 * still apply one. The target's own limit applies to the decoded bytes, so that a small response cannot expand without
 * bound.
 *
 * @returns Undefined for `identity`.
 * @throws UnknownEncoding When the encoding is unknown, or more than one is applied.
 */
export function decodingSink(encoding: string, target: BodySink): FinishingSink | undefined {
  const name = encoding.trim().toLowerCase();
  if (name === 'identity' || name === '') return undefined;
  const zlib = builtinModule('node:zlib');
  const makers: Record<string, (() => Transform) | undefined> = {
    gzip: zlib?.createGunzip,
    'x-gzip': zlib?.createGunzip,
    deflate: zlib?.createInflate,
    br: zlib?.createBrotliDecompress,
    zstd: zlib?.createZstdDecompress,
  };
  const decoder = Object.hasOwn(makers, name) ? makers[name]?.() : undefined;
  if (decoder === undefined) throw new UnknownEncoding(`content encoding ${JSON.stringify(name)}`);
  return new DecodingSink(decoder, target);
}

class DecodingSink implements FinishingSink {
  readonly #decoder: Transform;
  readonly #done: Promise<void>;

  constructor(decoder: Transform, target: BodySink) {
    this.#decoder = decoder;
    this.#done = this.#pump(target);
    this.#done.catch(() => {}); // handled by `write` and `finish`
  }

  async #pump(target: BodySink): Promise<void> {
    for await (const chunk of this.#decoder) await target.write(chunk);
  }

  write(chunk: Uint8Array): Promise<void> {
    // A failure of the decoder or of the target also ends the wait for this chunk.
    const written = new Promise<void>((resolve, reject) => {
      this.#decoder.write(chunk, (error) => (error ? reject(error) : resolve()));
    });
    return Promise.race([written, this.#done]);
  }

  async finish(): Promise<void> {
    this.#decoder.end();
    await this.#done;
  }
}
