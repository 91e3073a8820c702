/** Maximum size of a body, as it is sent and decompressed, in bytes: 4 MiB, as gRPC receivers have by default. */
export const maxBodyBytes: number = 4 * 1024 * 1024;

/**
 * Maximum memory of a decoded body, in bytes. Empty values take many times the bytes that encode them; a body of real
 * spans takes about ten times its own size. Where `maxQueuedBytes` is less, that is the limit.
 */
export const maxDecodedBytes: number = 64 * 1024 * 1024;

/** Maximum number of tool calls in a request. Exporters send at most 512 spans by default. */
export const maxToolSpans: number = 5000;
