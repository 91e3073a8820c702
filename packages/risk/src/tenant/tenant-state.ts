/** A tool that a tenant's agents called. */
export interface KnownTool {
  /** Hash of the session that called it first, where the tenant was known well enough then to call it new; else 0. */
  readonly newIn: number;
  /** Stamps that its first session gets: whether its name resembled or shadowed a known one. */
  readonly stamps: number;
}

/** An agent at work in a session. */
export interface Presence {
  readonly session: number;
  /** Time of its latest event there. */
  lastMs: number;
}

/** Something that an agent did at a time. */
export interface Sighting {
  readonly atMs: number;
  readonly agent: number;
  /** Hash of what was done; 0 for a failure. */
  readonly deed: number;
}

/**
 * What a tenant's events say beyond their sessions: which tools and agents it has, who is at work where, who fails,
 * who does the same. Bounded; it forgets the oldest first.
 */
export interface TenantState {
  /** By name. */
  readonly tools: Map<string, KnownTool>;
  /** By hash of the agentId, least recently seen first. */
  readonly agents: Map<number, Presence[]>;
  /** Hashes of sessions, until there are enough to know the tenant. */
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

/** How much a tenant's state keeps. */
export const TENANT_LIMITS = {
  tools: 1000,
  agents: 500,
  presences: 4,
  sessions: 10,
  failures: 32,
  actions: 64,
  stopped: 64,
  messages: 256,
} as const;

/** The state of a tenant without events. */
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

function written({ atMs, agent, deed }: Sighting): [number, number, number] {
  return [atMs, agent, deed];
}

function read([atMs, agent, deed]: [number, number, number]): Sighting {
  return { atMs, agent, deed };
}

/** The state as JSON, of some ten kilobytes. */
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
  /** Absent from what earlier versions gave. */
  stopped?: [number, number, number][];
  messages: [number, number][];
}

/** Reads what {@link serializeTenant} gave. Throws a `RangeError` for another format, a `SyntaxError` for no JSON. */
export function parseTenant(text: string): TenantState {
  const stored = JSON.parse(text) as Stored;
  if (stored.format !== 1) {
    throw new RangeError(
      `risk tenant state has format ${stored.format}, this version reads 1: start an empty one`,
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
    failures: stored.failures.map(([atMs, agent]) => ({ atMs, agent, deed: 0 })),
    actions: stored.actions.map(read),
    stopped: (stored.stopped ?? []).map(read),
    messages: new Map(stored.messages),
  };
}
