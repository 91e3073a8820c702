import type { CheckedAction } from '../match/checked-action.ts';
import type { FiredPolicy, PolicyDefinition } from './fired-policy.ts';

/** Rate of a policy: at most `max` actions in `windowSeconds`. */
export type Rate = NonNullable<PolicyDefinition['rate']>;

/** Maximum difference between the clocks of servers, in milliseconds. */
const clockSkewMs = 60_000;

/** Slices per window. Counts are exact to one slice: an action may count for up to one slice too long. */
const slicesPerWindow = 60;

/** Actions that a rate counts, for one check. Times are Unix milliseconds. */
export interface RateWindow {
  readonly policyId: string;
  readonly rate: Rate;
  /** Agent, session or tenant whose actions are counted, as text. */
  readonly subject: string;
  /** Start of the slice that counts the action. */
  readonly sliceMs: number;
  /** Slices that start after this time count. */
  readonly sinceMs: number;
  /**
   * Slices that start after this time do not count: they were counted before a clock was set back, and must not use up
   * the rate.
   */
  readonly untilMs: number;
}

/** Returns the windows of the policies that have a rate. */
export function rateWindows(
  matching: readonly FiredPolicy[],
  action: CheckedAction,
  nowMs: number,
): RateWindow[] {
  return matching.flatMap(({ policy: { id, definition } }) =>
    subjectsOf(definition.rate, action).map((subject) =>
      windowOf(id, definition.rate as Rate, subject, nowMs),
    ),
  );
}

function windowOf(policyId: string, rate: Rate, subject: string, nowMs: number): RateWindow {
  const windowMs = rate.windowSeconds * 1000;
  const lengthMs = Math.max(1, Math.floor(windowMs / slicesPerWindow));
  return {
    policyId,
    rate,
    subject,
    sliceMs: Math.floor(nowMs / lengthMs) * lengthMs,
    sinceMs: nowMs - windowMs - lengthMs,
    untilMs: nowMs + windowMs + clockSkewMs,
  };
}

/**
 * Returns the subjects of a count. An action without a session counts for its agent; an action of an inner agent also
 * counts for the agents above it.
 */
function subjectsOf(rate: Rate | null, { agentId, sessionId, parentAgentIds = [] }: CheckedAction): string[] {
  if (rate === null) return [];
  if (rate.per === 'tenant') return ['tenant'];
  if (rate.per === 'session' && sessionId !== undefined) return [`session:${sessionId}`];
  return [...new Set([agentId, ...parentAgentIds])].map((id) => `agent:${id}`);
}

/** Returns the key of a window's count. */
export function windowKey({ policyId, subject }: Pick<RateWindow, 'policyId' | 'subject'>): string {
  return `${policyId} ${subject}`;
}

/**
 * Returns the reasons of the policies whose rate is exceeded, by policy id.
 *
 * @param counted - number of actions in each window, by {@link windowKey}
 * @param isCounted - `true` if the action itself is among them
 */
export function exceededRates(
  windows: readonly RateWindow[],
  counted: ReadonlyMap<string, number>,
  isCounted: boolean,
): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>();
  for (const window of windows) {
    const { policyId, rate } = window;
    const actions = (counted.get(windowKey(window)) ?? 0) + (isCounted ? 0 : 1);
    if (actions <= rate.max || reasons.has(policyId)) continue;
    const why = `it is action ${actions} in ${rate.windowSeconds} seconds, and the limit is ${rate.max}`;
    reasons.set(policyId, why);
  }
  return reasons;
}
