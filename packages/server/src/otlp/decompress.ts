import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { ApiError, validationError } from '../lib/api-error.ts';
import { maxBodyBytes } from './body-limits.ts';
import { tooLarge } from './too-large.ts';

const gunzipAsync = promisify(gunzip);

/**
 * Checks the content coding of a request.
 *
 * @returns `true` if the body is compressed
 * @throws ApiError `UNSUPPORTED_MEDIA_TYPE` for another coding than gzip.
 */
export function isGzip(contentEncoding: string | undefined): boolean {
  const coding = contentEncoding?.trim().toLowerCase() ?? 'identity';
  if (coding === 'identity') return false;
  if (coding === 'gzip') return true;
  throw new ApiError(
    'UNSUPPORTED_MEDIA_TYPE',
    'The body may be compressed only by gzip; set OTEL_EXPORTER_OTLP_COMPRESSION=gzip or none.',
    { headers: { 'accept-encoding': 'gzip' } },
  );
}

/**
 * Decompresses a body outside the event loop. Stops at the limit, whatever the body would expand to.
 *
 * @throws ApiError `PAYLOAD_TOO_LARGE` beyond the limit, `VALIDATION_ERROR` when the body is not gzip.
 */
export async function decompress(bytes: Buffer): Promise<Buffer> {
  try {
    return await gunzipAsync(bytes, { maxOutputLength: maxBodyBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw tooLarge('The body is larger than 20 MiB when decompressed');
    }
    throw validationError(
      '',
      'invalid_gzip',
      'has a body that is not gzip, although Content-Encoding says so',
    );
  }
}
