import { randomUUID } from 'node:crypto';
import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import {
  AdapterCalls,
  type AdapterOptions,
  parseExactJson,
  processWide,
  toolContent,
} from '@actlog/recorder/adapter';

/** Version of this package; the release writes it. */
export const version = '0.0.0';

const callIds = processWide('@actlog/openai/call-ids', () => new WeakMap<object, string>());

/**
 * Returns the id of a call by its arguments object, by which inner hooks recognize the call. Undefined if the arguments
 * are not an object and no id is known.
 *
 * @param known - the model's id of the call; without one, an id is generated
 */
export function callIdOf(args: unknown, known?: string): string | undefined {
  if (typeof args !== 'object' || args === null) return known;
  const id = known ?? callIds().get(args) ?? randomUUID();
  callIds().set(args, id);
  return id;
}

/** Errors of invalid arguments, shared by all copies of this package. */
const noted = processWide('@actlog/openai/invalid-arguments', () => new WeakSet<object>());

/**
 * Creates the `AdapterCalls` of this adapter.
 *
 * @param canHold - `true` if the calls notice an abort while they wait for a person's decision
 */
export function openAICalls(options: AdapterOptions, canHold = true): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'openai',
      sdk: `@actlog/openai/${version}`,
      form: 'actlog(tools, { guard })',
      statusOf,
      resultOf: toolContent,
      canHold,
    },
    options,
  );
}

/** Remembers an error about invalid arguments. Returns `false` if it was already known. */
export function rememberInvalidArguments(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return true;
  const isNew = !noted().has(error);
  noted().add(error);
  return isNew;
}

function statusOf(outcome: ToolOutcome): number | undefined {
  const isInvalid =
    !outcome.ok && typeof outcome.error === 'object' && outcome.error !== null && noted().has(outcome.error);
  return isInvalid ? responseStatuses.invalidArguments : undefined;
}

/** Parses arguments; returns a string that is not JSON unchanged. */
export function parsedArguments(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  try {
    return parseExactJson(text);
  } catch {
    return text;
  }
}
