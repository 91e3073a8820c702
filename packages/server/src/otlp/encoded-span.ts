import { ApiError, validationError } from '../lib/api-error.ts';

/** A span of a request that is decoded when it is needed: a body may be as large as all spans of it together. */
export interface EncodedSpan {
  /** Decoded resource of the span. */
  readonly resource: unknown;
  /** Decoded scope of the span. */
  readonly scope: unknown;
  /**
   * Decodes the span. Both encodings result in objects with the same names, of which nothing else is certain: ids are
   * bytes or hexadecimal digits, and 64-bit integers are objects, numbers or decimal digits.
   *
   * @throws ApiError `VALIDATION_ERROR` when the bytes are not of the encoding. Its message quotes nothing of them.
   */
  decode(): unknown;
}

/** Replacement for a text that is too long to be read, in both encodings. */
export const tooLong: object = { tooLong: true };

/** Upper bound for the memory that a span takes until the end of its request, without its attributes, in bytes. */
const spanBytes = 400;

/** Memory of a request whose spans are decoded one after another. */
export class DecodingMemory {
  readonly #maxBytes: number;
  readonly #resize: (bytes: number) => void;
  #heldBytes = 0;
  #largestBytes = 0;
  #reservedBytes = 0;

  /** `resize` reserves the memory of the request; it throws when there is none. */
  constructor(maxBytes: number, resize: (bytes: number) => void) {
    this.#maxBytes = maxBytes;
    this.#resize = resize;
  }

  /** Adds bytes that are held until the end. */
  hold(bytes: number): void {
    this.#heldBytes += bytes;
    this.#reserve();
  }

  /** Adds spans. */
  holdSpans(count: number): void {
    this.hold(count * spanBytes);
  }

  /** Makes room for a value that is only needed until the next. */
  need(bytes: number): void {
    this.#largestBytes = Math.max(this.#largestBytes, bytes);
    this.#reserve();
  }

  #reserve(): void {
    const bytes = this.#heldBytes + this.#largestBytes;
    if (bytes <= this.#reservedBytes) return;
    if (bytes > this.#maxBytes) {
      throw tooLarge(
        `The body would take more than ${Math.floor(this.#maxBytes / 2 ** 20)} MiB when decoded`,
      );
    }
    this.#resize(bytes);
    this.#reservedBytes = bytes;
  }
}

/** Returns the error of a body that is not an encoded request. */
export function notProtobuf(): ApiError {
  return validationError(
    '',
    'invalid_protobuf',
    'has a body that is not an ExportTraceServiceRequest in protobuf',
  );
}

/** Returns the error of a body that is not JSON. @param problem - phrased to follow "a body that" */
export function notJson(problem: string): ApiError {
  return validationError('', 'invalid_json', `has a body that ${problem}, although Content-Type says so`);
}

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
