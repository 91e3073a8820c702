/** Values and bounds on the wire. The specification leaves the numbers open; these are the profile's. */

/** The version of the event schema (specification, "Versioning"). */
export const schemaVersion = '1.0';

/** The category of tool calls (specification, "Event"). */
export const toolCallCategory = 'tool_api';

/** Prefix of production keys and of test keys (specification, "Authentication"). */
export const keyPrefixes = { live: 'al_live_', test: 'al_test_' } as const;

/** Seconds that `Prefer: wait=` can hold an answer. By itself, because a client needs no other bound. */
export const maxWaitSeconds = 25;

/** Bounds of the reference profile. Plain numbers, so that a bundler sees that whoever uses none can leave them out. */
export const limits = {
  /** Items of a page when the caller names no `limit`. */
  defaultPageSize: 50,
  /** Most items of a page. */
  maxPageSize: 200,
  /** Most bytes of a request body: 256 KiB. */
  maxBodyBytes: 262_144,
  /** Most bytes of an agent's metadata as JSON, whatever many patches add up to: 256 KiB. */
  maxMetadataBytes: 262_144,
  /** Deepest nesting of a JSON body. */
  maxJsonDepth: 32,
  /** Most characters of an identifier, a tool name or an arguments hash. */
  maxIdentifierLength: 200,
  /** {@link maxWaitSeconds} */
  maxWaitSeconds,
} as const;
