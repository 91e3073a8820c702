/**
 * Findings about an event that need data from outside its session. They are determined once when the event arrives and
 * are stored with it. Bit `i` of a stamp stands for `STAMP_NAMES[i]`. The order is part of the stored format:
 * append only.
 */
export const STAMP_NAMES = [
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

/** One of {@link STAMP_NAMES}. */
export type StampName = (typeof STAMP_NAMES)[number];

/** Index of each stamp. */
export const STAMP_INDEX = Object.fromEntries(STAMP_NAMES.map((name, index) => [name, index])) as Readonly<
  Record<StampName, number>
>;

/** Stamps that an event of the service itself can have; the others are evidence about an agent. */
const SERVICE_STAMPS = stampOf('tenant_known');

/**
 * Returns the stamps of an event that count. Events that the service writes about an action, such as a
 * person's decision
 * on a request of a revoked agent, are never evidence against the agent.
 */
export function stampsThatCount(category: string, stamp: number): number {
  return category === 'guardian_decision' ? stamp & SERVICE_STAMPS : stamp;
}

/** Returns the number for a set of stamps. */
export function stampOf(...names: readonly StampName[]): number {
  return names.reduce((bits, name) => bits | (1 << STAMP_INDEX[name]), 0);
}
