/**
 * What can be said of an event only by looking beyond its session, found once when it arrives and stored with it.
 * Bit `i` of a stamp stands for `STAMP_NAMES[i]`. The order is part of the stored form: add at the end.
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

/** The number that stands for a set of stamps. */
export function stampOf(...names: readonly StampName[]): number {
  return names.reduce((bits, name) => bits | (1 << STAMP_INDEX[name]), 0);
}
