import type { Transform } from 'node:stream';
import { type BodySink, UnknownEncoding } from './body-sink.ts';
import { builtinModule } from './platform.ts';

/** A sink that holds something back until it is told that all came. */
export interface FinishingSink extends BodySink {
  finish(): Promise<void>;
}

/**
 * Undoes a `Content-Encoding` (RFC 9110, section 8.4) on the way to a sink. The client asks for none; a gateway may
 * answer with one all the same. Bounded by the sink's own bound, so that a small answer cannot unfold without end.
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
    this.#done.catch(() => {}); // whoever writes or finishes meets it
  }

  async #pump(target: BodySink): Promise<void> {
    for await (const chunk of this.#decoder) await target.write(chunk);
  }

  write(chunk: Uint8Array): Promise<void> {
    // A failure of the decoder or of the target ends the stream, and with it the wait for this piece.
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
