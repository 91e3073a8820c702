/** Names of the HTTP headers on the wire, in lower case as HTTP/2 (RFC 9113, section 8.2) writes them. */
export const headers = {
  /** `Bearer <API_KEY>` on every request (specification, "Authentication"). */
  authorization: 'authorization',
  /** `application/json` for every body. */
  contentType: 'content-type',
  /** Identifier and version of the client integration, such as `@actlog/client/1.0.0`. */
  sdk: 'x-service-sdk',
  /** Name of the AI framework, if configured. */
  framework: 'x-service-framework',
  /** Version of the agent, if configured. */
  agentVersion: 'x-service-agent-version',
  /** Seconds or an HTTP date (RFC 9110, section 10.2.3), on 429 and on 503. */
  retryAfter: 'retry-after',
  /** Makes a POST repeatable for 24 hours (reference profile). */
  idempotencyKey: 'idempotency-key',
  /**
   * `wait=25` holds the answer of a check until the decision or the time; `dry-run` has it leave nothing behind
   * (RFC 7240: a service that does not know a preference passes it over).
   */
  prefer: 'prefer',
  /** Names one request in the server's logs; on every response of the reference profile. */
  requestId: 'x-request-id',
} as const;

/** Headers of a webhook delivery (Standard Webhooks). */
export const webhookHeaders = {
  /** Unique id of the message, the same through all tries. */
  id: 'webhook-id',
  /** Seconds since the epoch at which this try was sent. */
  timestamp: 'webhook-timestamp',
  /** One or more signatures, `v1,<base64>`, separated by spaces. */
  signature: 'webhook-signature',
} as const;
