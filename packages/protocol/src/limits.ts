/** Constants and limits of the wire. The specification leaves the numbers open; these are the profile's. */

/** Version of the event schema (specification, "Versioning"). */
export const schemaVersion = '1.0';

/** Category of tool calls (specification, "Event"). */
export const toolCallCategory = 'tool_api';

/** Category of the events that the service writes itself: decisions about actions. */
export const decisionCategory = 'guardian_decision';

/** Category of events that report the origins of a tool call's arguments (reference profile, "Events"). */
export const argumentOriginsCategory = 'argument_origins';

/** Category of events that name the subagent of a tool call, or the agents around it (reference profile, "Events"). */
export const subagentCallCategory = 'subagent_call';

/** Category of events in which a recorder lists the events of a session that it has recorded (reference profile, "Events"). */
export const sessionSealCategory = 'session_seal';

/** Prefixes of live and test keys (specification, "Authentication"). */
export const keyPrefixes = { live: 'al_live_', test: 'al_test_' } as const;

/** Maximum of `Prefer: wait=`, in seconds. Exported separately because a client needs no other limit. */
export const maxWaitSeconds = 25;

/** Limits of the reference profile. They are plain numbers so that bundlers can drop unused ones. */
export const limits = {
  /** Items per page if the request has no `limit`. */
  defaultPageSize: 50,
  /** Maximum number of items per page. */
  maxPageSize: 200,
  /** Maximum size of a request body in bytes: 256 KiB. */
  maxBodyBytes: 262_144,
  /** Maximum size of an agent's metadata as JSON, in bytes, after all patches: 256 KiB. */
  maxMetadataBytes: 262_144,
  /** Maximum size of a held action as JSON, in bytes, including its shown arguments: 64 KiB. */
  maxHeldActionBytes: 65_536,
  /** Maximum nesting depth of a JSON body. */
  maxJsonDepth: 32,
  /** Maximum length of an identifier, a tool name or an arguments hash, in characters. */
  maxIdentifierLength: 200,
  /** Maximum length of an argument path in `origins`, in characters. */
  maxArgumentPathLength: 200,
  /** Maximum number of argument paths in `origins`. */
  maxArgumentOrigins: 64,
  /** Maximum number of agents in `parentAgentIds`. */
  maxParentAgents: 8,
  /** Maximum number of arguments that a policy lets an approver change. */
  maxEditableArguments: 20,
  /** {@link maxWaitSeconds} */
  maxWaitSeconds,
} as const;

/** Lowest scores of the levels above `low`. They are the same with a known history and without. */
export const riskLevels = { medium: 40, high: 70, critical: 90 } as const;

/**
 * Returns a score as a whole number for people, rounded down: rounded up it could seem to reach the next level, and a
 * filter for the shown value would not find it.
 */
export function wholeScore(score: number): number {
  return Math.floor(score);
}

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
  /** Token (JWT) of a configured issuer that verifies the agent and the principal of a request (reference profile). */
  identity: 'x-actlog-identity',
  /**
   * W3C `traceparent` of the call that an event or a check is about (reference profile). `traceparent` itself is about the
   * request, which a recorder sends later than the call.
   */
  callTraceparent: 'x-actlog-traceparent',
  /** `traceparent` of the request (W3C Trace Context). A check is sent during its call, so it stands for both. */
  traceparent: 'traceparent',
  /** Identifies one request in the server's logs; set on every response of the reference profile. */
  requestId: 'x-request-id',
  /**
   * Time since which a server cannot reach its history (RFC 3339); set on each response that may lack records for that
   * reason.
   */
  historyMissingSince: 'x-actlog-history-missing-since',
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
