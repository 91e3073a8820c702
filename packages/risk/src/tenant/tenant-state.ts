/** A tool that a tenant's agents called. */
export interface KnownTool {
  /** Hash of the session that first called it, if the tenant was known well enough to call it new; otherwise 0. */
  readonly newIn: number;
  /** Stamps of its first session: similar or shadowed names. */
  readonly stamps: number;
}

/** Activity of an agent in a session. */
export interface Presence {
  readonly session: number;
  /** Time of its latest event there. */
  lastMs: number;
}

/** Action of an agent at a time. */
export interface Sighting {
  readonly atMs: number;
  readonly agent: number;
  /** Hash of the action; 0 for a failure. */
  readonly action: number;
}

/**
 * State of a tenant across its sessions: known tools and agents, active sessions, failures and repeated actions.
 * Bounded; the oldest entries are dropped first.
 */
export interface TenantState {
  /** Known tools by name. */
  readonly tools: Map<string, KnownTool>;
  /** Presences by hash of the agentId, least recently seen first. */
  readonly agents: Map<number, Presence[]>;
  /** Hashes of sessions, until the tenant is known well enough. */
  readonly sessions: Set<number>;
  /** Latest failures, oldest first. */
  readonly failures: Sighting[];
  /** Latest actions, oldest first. */
  readonly actions: Sighting[];
  /** Latest actions that a policy or a person stopped, oldest first. */
  readonly stopped: Sighting[];
  /** Hash of the agent that first sent a message, by hash of its content, oldest first. */
  readonly messages: Map<number, number>;
}

/** Maximum sizes of a tenant's state. */
export const tenantLimits = {
  tools: 1000,
  agents: 500,
  presences: 4,
  sessions: 10,
  failures: 32,
  actions: 64,
  stopped: 64,
  messages: 256,
} as const;

/** Creates the state of a tenant without events. */
export function emptyTenant(): TenantState {
  return {
    tools: new Map(),
    agents: new Map(),
    sessions: new Set(),
    failures: [],
    actions: [],
    stopped: [],
    messages: new Map(),
  };
}

function written({ atMs, agent, action }: Sighting): [number, number, number] {
  return [atMs, agent, action];
}

function read([atMs, agent, action]: [number, number, number]): Sighting {
  return { atMs, agent, action };
}

/** Serializes the state to JSON, about ten kilobytes. */
export function serializeTenant(tenant: TenantState): string {
  return JSON.stringify({
    format: 1,
    tools: [...tenant.tools].map(([name, { newIn, stamps }]) => [name, newIn, stamps]),
    agents: [...tenant.agents].map(([agent, presences]) => [
      agent,
      presences.map((p) => [p.session, p.lastMs]),
    ]),
    sessions: [...tenant.sessions],
    failures: tenant.failures.map((sighting) => [sighting.atMs, sighting.agent]),
    actions: tenant.actions.map(written),
    stopped: tenant.stopped.map(written),
    messages: [...tenant.messages],
  });
}

interface Stored {
  format: number;
  tools: [string, number, number][];
  agents: [number, [number, number][]][];
  sessions: number[];
  failures: [number, number][];
  actions: [number, number, number][];
  /** Absent in the output of earlier versions. */
  stopped?: [number, number, number][];
  messages: [number, number][];
}

/**
 * Parses the output of {@link serializeTenant}. Throws a `RangeError` for another format, a `SyntaxError` for
 * invalid JSON.
 */
export function parseTenant(text: string): TenantState {
  const stored = JSON.parse(text) as Stored;
  if (stored.format !== 1) {
    throw new RangeError(
      `risk tenant state has format ${stored.format}, this version reads 1; start with an empty state`,
    );
  }
  return {
    tools: new Map(stored.tools.map(([name, newIn, stamps]) => [name, { newIn, stamps }])),
    agents: new Map(
      stored.agents.map(([agent, presences]) => [
        agent,
        presences.map(([session, lastMs]) => ({ session, lastMs })),
      ]),
    ),
    sessions: new Set(stored.sessions),
    failures: stored.failures.map(([atMs, agent]) => ({ atMs, agent, action: 0 })),
    actions: stored.actions.map(read),
    stopped: (stored.stopped ?? []).map(read),
    messages: new Map(stored.messages),
  };
}
