import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { cacheControlOf, type SiteFile, typesByEnding } from './src/site-file.ts';

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

/** Returns a file with everything that a server sends with it. */
export async function compressedFile(name: string, body: string): Promise<SiteFile> {
  const bytes = Buffer.from(body);
  const params = {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
  };
  const [br, gz] = await Promise.all([toBrotli(bytes, { params }), toGzip(bytes, { level: 9 })]);
  return {
    type: typesByEnding[extname(name)] ?? '',
    body,
    cacheControl: cacheControlOf(name),
    etag: etagOf(bytes),
    compressed: { br, gzip: gz },
  };
}

function etagOf(bytes: Uint8Array): string {
  return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
}
