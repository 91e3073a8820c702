/** Names of the HTTP headers, in lower case as in HTTP/2 (RFC 9113, section 8.2). */
export const headers = {
  /** `Bearer <API_KEY>` on every request (specification, "Authentication"). */
  authorization: 'authorization',
  /** `application/json` for every request with a body. */
  contentType: 'content-type',
  /** Identifier and version of the client integration, such as `@actlog/client/1.0.0`. */
  sdk: 'x-service-sdk',
  /** Name of the AI framework, if configured. */
  framework: 'x-service-framework',
  /** Version of the agent, if configured. */
  agentVersion: 'x-service-agent-version',
  /** Delay in seconds or an HTTP date (RFC 9110, section 10.2.3), on 429 and 503. */
  retryAfter: 'retry-after',
  /** Makes a POST request safe to retry for 24 hours (reference profile). */
  idempotencyKey: 'idempotency-key',
  /**
   * `wait=25` delays the response of a check until a decision or until that many seconds have passed;
   * `dry-run` makes the check leave nothing behind (RFC 7240: a service ignores preferences it does not know).
   */
  prefer: 'prefer',
  /** Identifies one request in the server's logs; set on every response of the reference profile. */
  requestId: 'x-request-id',
} as const;

/** Headers of a webhook delivery (Standard Webhooks). */
export const webhookHeaders = {
  /** Unique id of the message; the same for all attempts. */
  id: 'webhook-id',
  /** Time at which this attempt was sent, in Unix seconds. */
  timestamp: 'webhook-timestamp',
  /** One or more signatures, `v1,<base64>`, separated by spaces. */
  signature: 'webhook-signature',
} as const;
