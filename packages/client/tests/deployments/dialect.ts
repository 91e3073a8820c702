import type { BodyOf } from '@actlog/protocol';

/** How a deployment words what the specification leaves open: bodies of requests, and the name of an identifier. */
export interface Dialect {
  /** Registers an agent of this name. */
  agent(name: string): BodyOf<'agents.create'>;
  /** Gives an agent another name. */
  agentChange(name: string): BodyOf<'agents.update'>;
  /** Makes a policy of this name that holds nothing. */
  policy(name: string): BodyOf<'policies.create'>;
  /** Gives a policy another name. */
  policyChange(name: string): BodyOf<'policies.update'>;
  /** Makes a policy that holds every action of an agent for a person. */
  hold(name: string, agentId: string): BodyOf<'policies.create'>;
  /** Asks whether an agent may act. */
  check(agentId: string): BodyOf<'policies.check'>;
  /** Decides a held action. */
  readonly decision: BodyOf<'guardian.pendingActions.decide'>;
  /** Makes a webhook that calls this address. */
  channel(url: string): BodyOf<'notificationChannels.create'>;
  /** The identifier of a record, as its list or its creation shows it. */
  idOf(record: object): string;
}

/** The dialect of the reference profile, which the types of the client follow. */
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

/** What the foreign server asks for has nothing in common with the types of the client. */
function foreign(body: object): never {
  return body as never;
}

/** The dialect of the foreign server. */
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
