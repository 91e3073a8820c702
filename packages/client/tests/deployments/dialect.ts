import type { BodyOf } from '@actlog/protocol';

/**
 * Parts of a deployment's interface that the specification leaves open: request bodies and the name of the identifier.
 */
export interface Dialect {
  /** Registers an agent with this name. */
  agent(name: string): BodyOf<'agents.create'>;
  /** Renames an agent. */
  agentChange(name: string): BodyOf<'agents.update'>;
  /** Creates a policy with this name that holds nothing. */
  policy(name: string): BodyOf<'policies.create'>;
  /** Renames a policy. */
  policyChange(name: string): BodyOf<'policies.update'>;
  /** Creates a policy that holds every action of an agent. */
  hold(name: string, agentId: string): BodyOf<'policies.create'>;
  /** Checks an action of an agent. */
  check(agentId: string): BodyOf<'policies.check'>;
  /** Decides a held action. */
  readonly decision: BodyOf<'guardian.pendingActions.decide'>;
  /** Creates a webhook for this URL. */
  channel(url: string): BodyOf<'notificationChannels.create'>;
  /** Returns the identifier of a record, from a list or from its creation. */
  idOf(record: object): string;
}

/** Dialect of the reference profile, which the client's types follow. */
export const referenceDialect: Dialect = {
  agent: (name) => ({ name }),
  agentChange: (name) => ({ name }),
  policy: (name) => ({ name, effect: 'deny', mode: 'log_only', match: { agents: [name] } }),
  policyChange: (name) => ({ name }),
  hold: (name, agentId) => ({ name, effect: 'require_approval', match: { agents: [agentId] } }),
  check: (agentId) => ({ agentId, action: { toolName: 'send_mail', argumentsHash: 'sha256:00' } }),
  decision: { decision: 'deny' },
  channel: (url) => ({ url }),
  idOf: (record) => (record as { id: string }).id,
};

/** Casts a body of the foreign server, which does not match the client's types. */
function foreign(body: object): never {
  return body as never;
}

/** Dialect of the foreign server. */
export const foreignDialect: Dialect = {
  agent: (name) => foreign({ displayName: name }),
  agentChange: (name) => foreign({ displayName: name }),
  policy: (name) => foreign({ title: name }),
  policyChange: (name) => foreign({ title: name }),
  hold: (name, agentId) => foreign({ title: name, hold: agentId }),
  check: (agentId) => foreign({ who: agentId, what: 'anything' }),
  decision: foreign({ verdict: 'no' }),
  channel: (url) => foreign({ target: url }),
  idOf(record) {
    const { created = record } = record as { created?: object };
    const { number, policyUuid, ticket } = created as Record<string, string | undefined>;
    return number ?? policyUuid ?? ticket ?? '';
  },
};
