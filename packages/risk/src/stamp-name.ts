/**
 * Findings about an event that need data from outside its session. They are determined once when the event arrives and
 * are stored with it. Bit `i` of a stamp stands for `stampNames[i]`. The order is part of the stored format:
 * append only.
 */
export const stampNames = [
  'agent_revoked',
  'agent_unregistered',
  'tool_new_to_tenant',
  'tool_lookalike',
  'tool_confusable',
  'tool_shadowed',
  'agent_elsewhere',
  'failure_spread',
  'same_intent',
  'message_replayed',
  'recipient_unknown',
  'clock_ahead',
  'tenant_known',
] as const;

/** One of {@link stampNames}. */
export type StampName = (typeof stampNames)[number];

/** Index of each stamp. */
export const stampIndex = Object.fromEntries(stampNames.map((name, index) => [name, index])) as Readonly<
  Record<StampName, number>
>;

/** Stamps that an event of the service itself can have; the others are evidence about an agent. */
const serviceStamps = stampOf('tenant_known');

/**
 * Returns the stamps of an event that count. Events that the service writes about an action, such as a
 * person's decision
 * on a request of a revoked agent, are never evidence against the agent.
 */
export function stampsThatCount(category: string, stamp: number): number {
  return category === 'guardian_decision' ? stamp & serviceStamps : stamp;
}

/** Returns the number for a set of stamps. */
export function stampOf(...names: readonly StampName[]): number {
  return names.reduce((bits, name) => bits | (1 << stampIndex[name]), 0);
}
