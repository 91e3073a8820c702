import { parseJsonWithBigInts, stringifyExactJson } from '@actlog/protocol';

/** A call of a session in its stored form. */
export interface StoredCall {
  /** Place of the call in its session: higher for later calls. */
  readonly number: number;
  /** The call, as text. */
  readonly text: string;
}

/** Outcomes by their number in the stored form: append only. */
const outcomes: readonly CallOutcome[] = ['denied', 'running', 'succeeded', 'failed'];

/** Characters of an arguments hash that are kept. An event with the id of a check has its hash, unless it is wrong. */
const keptHashLength = 16;

type Fields = [
  toolName: string,
  argumentsHash: string,
  atMs: number,
  outcome: number,
  endedMs: number,
  agentId: string,
  actionId: string | null,
  shown: Record<string, KeptArgument>,
];

/** Returns the stored form of a call as text. */
export function callText(call: SessionCall): string {
  const fields: Fields = [
    call.toolName,
    keptHash(call.argumentsHash),
    call.atMs,
    outcomes.indexOf(call.outcome),
    call.endedMs,
    call.agentId,
    call.actionId ?? null,
    call.arguments,
  ];
  return stringifyExactJson(fields) as string;
}

/**
 * Parses the stored form of a call.
 *
 * @throws SyntaxError for text that is not JSON.
 */
export function parseCall(text: string): SessionCall {
  const [toolName, argumentsHash, atMs, outcome, endedMs, agentId, actionId, shown] = parseJsonWithBigInts(
    text,
  ) as Fields;
  return {
    toolName,
    argumentsHash,
    atMs,
    outcome: outcomes[outcome] as CallOutcome,
    endedMs,
    agentId,
    actionId: actionId ?? undefined,
    arguments: shown,
  };
}

/** Returns the part of an arguments hash that is kept. */
export function keptHash(argumentsHash: string): string {
  return argumentsHash.slice(-keptHashLength);
}

/**
 * Outcome of a call. It is `running` from the moment a check allows it until its event arrives: the `tool_api` event of
 * the same agent, session, tool and `argumentsHash` whose `eventId` is the check's `actionId`. Below status 400 the call
 * has `succeeded`, otherwise it has `failed`. `denied` by a policy or an approver, it never ran.
 */
export type CallOutcome = 'denied' | 'running' | 'succeeded' | 'failed';

/** Value of a shown argument that is compared or summed. Other values count as not shown. */
export type KeptArgument = string | number | bigint | boolean;

/**
 * A checked call as conditions on the history see it. This is what counts, on every implementation of the service:
 *
 * - A call counts from the transaction of the check that allows it, so that checks under way count for each other. A
 *   held action counts when it is approved, not before.
 * - A check with an `actionId` counts once, however often it is repeated, and never for itself. Without an `actionId`,
 *   each check counts.
 * - A dry run and a check outside a session count nowhere. Calls that were recorded but never checked do not count.
 * - `started`, `count` and `sum` read allowed calls, whatever came of them: a limit must not depend on reports.
 *   `called`, `calledAfter` and `successes` read calls that succeeded: a failed approval must not open a gate.
 *   `failed` reads calls that were denied or failed.
 */
export interface SessionCall {
  readonly agentId: string;
  /** `actionId` of the check; undefined for none. */
  readonly actionId: string | undefined;
  readonly toolName: string;
  readonly argumentsHash: string;
  /** Time of the check that allowed or denied it, in Unix milliseconds. */
  readonly atMs: number;
  readonly outcome: CallOutcome;
  /** Time at which the service received the call's event, in Unix milliseconds; 0 while there is none. */
  readonly endedMs: number;
  /** Shown arguments that a policy reads, by name. */
  readonly arguments: Readonly<Record<string, KeptArgument>>;
}

/** Maximum length of a string that is kept to be compared. A longer one counts as not shown. */
const longestText = 200;

/** Returns the named arguments that can be kept: strings of at most 200 characters, finite numbers and booleans. */
export function keptArguments(
  shown: Readonly<Record<string, unknown>> | undefined,
  names: Iterable<string>,
): Record<string, KeptArgument> {
  const kept: [string, KeptArgument][] = [];
  for (const name of names) {
    const value = shown && Object.hasOwn(shown, name) ? shown[name] : undefined;
    if (isKept(value)) kept.push([name, value]);
  }
  return Object.fromEntries(kept);
}

/** `true` for a value that can be kept and compared. */
export function isKept(value: unknown): value is KeptArgument {
  if (typeof value === 'string') return value.length <= longestText;
  if (typeof value === 'boolean' || typeof value === 'bigint') return true;
  return typeof value === 'number' && Number.isFinite(value);
}
