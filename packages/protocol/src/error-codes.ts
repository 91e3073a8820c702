/**
 * Error codes of the reference profile with their HTTP status. The specification fixes only
 * `AUTHENTICATION_FAILED` with 401 and the name `VALIDATION_ERROR`; the profile chose the rest. Clients
 * should therefore check the code first and the status second.
 */
export const errorCodes = {
  AUTHENTICATION_FAILED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  ALREADY_EXISTS: 409,
  ALREADY_DECIDED: 409,
  ACTION_EXPIRED: 409,
  ACTION_MISMATCH: 409,
  POLICY_ARCHIVED: 409,
  IDEMPOTENCY_KEY_REUSED: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  VALIDATION_ERROR: 400,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  OVERLOADED: 503,
} as const;

/** Error code that the reference profile defines. */
export type ErrorCode = keyof typeof errorCodes;

/** Warning codes in an event acknowledgement (reference profile, "Events"). */
export const warningCodes = [
  'AGENT_NOT_REGISTERED',
  'AGENT_REVOKED',
  'TIMESTAMP_IN_FUTURE',
  'TIMESTAMP_TOO_OLD',
  'UNKNOWN_CATEGORY',
  'UNKNOWN_SCHEMA_VERSION',
  'EVENT_ID_REUSED',
  'SESSION_AGENT_MISMATCH',
  'PROTO_KEYS_REMOVED',
] as const;

/** Warning code that the reference profile defines. */
export type WarningCode = (typeof warningCodes)[number];
