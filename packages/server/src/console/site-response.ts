import type { SiteEncoding, SiteFile } from '@actlog/console';
import { acceptedEncodings } from '../http/representation.ts';

/** Encodings of the files, preferred ones first. */
const encodings: readonly SiteEncoding[] = ['br', 'gzip'];

/** Body of a file in the encoding of a response, and the headers that depend on it. */
export interface EncodedBody {
  readonly body: string | Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns a file in the best encoding that a client accepts (RFC 9110, section 12.5.3). */
export function encodedBody(file: SiteFile, acceptEncoding = ''): EncodedBody {
  const accepted = acceptedEncodings(acceptEncoding);
  const encoding = encodings.find((name) => accepted.has(name));
  const common = { 'cache-control': file.cacheControl, vary: 'accept-encoding' };
  if (encoding === undefined) return { body: file.body, headers: { ...common, etag: file.etag } };
  return {
    body: Buffer.from(file.compressed[encoding]),
    headers: {
      ...common,
      // A tag names one representation (RFC 9110, section 8.8.3.3).
      etag: file.etag.replace(/"$/, `-${encoding}"`),
      'content-encoding': encoding,
    },
  };
}
