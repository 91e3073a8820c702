/** Constants and limits of the wire. The specification leaves the numbers open; these are the profile's. */

/** Version of the event schema (specification, "Versioning"). */
export const schemaVersion = '1.0';

/** Category of tool calls (specification, "Event"). */
export const toolCallCategory = 'tool_api';

/** Category of events that report the origins of a tool call's arguments (reference profile, "Events"). */
export const argumentOriginsCategory = 'argument_origins';

/** Category of events that name the subagent of a tool call, or the agents around it (reference profile, "Events"). */
export const subagentCallCategory = 'subagent_call';

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
  /** {@link maxWaitSeconds} */
  maxWaitSeconds,
} as const;
