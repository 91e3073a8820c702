import { parseJsonWithBigInts, stringifyExactJson } from '@actlog/protocol';
import type { CallOutcome, KeptArgument, SessionCall } from './session-call.ts';

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
