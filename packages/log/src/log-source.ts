import { LogError } from './log-error.ts';
import { type Tile, type TileSource, tilePath } from './tiles.ts';

/** A log to verify: its signed checkpoint and its tiles. */
export interface LogSource {
  /** Returns the signed checkpoint; undefined if there is none. */
  readCheckpoint(): Promise<string | undefined>;
  readonly tiles: TileSource;
}

/** Options for {@link httpLog}. */
export interface HttpLogOptions {
  /** Sends requests; the global `fetch` by default. */
  readonly fetch?: typeof fetch;
  /** Headers of each request, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Largest bundle: 256 entries of 65,535 bytes, each after its length. */
const maxBytes = 256 * 65_537;

/**
 * Returns a log that is served over HTTP, as C2SP tlog-tiles describes.
 *
 * @param url - prefix of the log, such as `https://actlog.example.com/log/acme`
 * @throws Error from its methods when the server cannot be reached, or responds with another status than 200 or 404
 */
export function httpLog(
  url: string,
  { fetch: send = fetch, headers = {}, signal }: HttpLogOptions = {},
): LogSource {
  const prefix = url.replace(/\/+$/, '');
  const get = async (path: string): Promise<Buffer | undefined> => {
    const response = await send(`${prefix}/${path}`, { headers, ...(signal ? { signal } : {}) });
    if (response.status === 404) {
      await response.body?.cancel();
      return undefined;
    }
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`${prefix}/${path} responded with ${response.status}; the log could not be read.`);
    }
    return readBytes(response, path);
  };
  return {
    readCheckpoint: async () => (await get('checkpoint'))?.toString('utf8'),
    tiles: { readTile: (tile: Tile) => get(tilePath(tile)) },
  };
}

async function readBytes(response: Response, path: string): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > maxBytes) throw new LogError('malformed', `${path} must have at most ${maxBytes} bytes.`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
