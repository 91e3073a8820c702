import { ApiError } from '../lib/api-error.ts';

/** Maximum size of a body, as it is sent and decompressed, in bytes: 20 MiB, as the OpenTelemetry Collector takes. */
export const maxBodyBytes: number = 20 * 1024 * 1024;

/**
 * Maximum memory of a request while its spans are decoded, one after another, in bytes. Empty values take many times the
 * bytes that encode them. Where `maxQueuedBytes` is less, that is the limit.
 */
export const maxDecodedBytes: number = 64 * 1024 * 1024;

/**
 * Longest attribute that is read, in characters; a longer one is like one that is not set. Parsing the JSON in it would
 * take many times its memory.
 */
export const maxTextLength: number = 256 * 1024;

/** Bytes in UTF-8 above which a text is longer than that, so that it need not be decoded. */
export const maxTextBytes: number = maxTextLength * 3;

/** Maximum number of tool calls in a request. Exporters send at most 512 spans by default. */
export const maxToolSpans: number = 5000;

/** Returns the error of a request with too many spans. @param problem - what is too large, as a clause */
export function tooLarge(problem: string): ApiError {
  return new ApiError(
    'PAYLOAD_TOO_LARGE',
    `${problem}; export fewer spans at once, such as by OTEL_BSP_MAX_EXPORT_BATCH_SIZE=64.`,
  );
}
