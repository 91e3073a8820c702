import type { EventInput } from '@actlog/client';
import { UsageError } from '../errors/usage-error.ts';

/** Options of one event. */
export interface EventFlags {
  readonly agent?: string;
  readonly session?: string;
  readonly tool?: string;
  readonly status: number;
  readonly arguments?: Record<string, unknown>;
  readonly argumentsHash?: string;
  readonly category?: string;
  readonly payload?: Record<string, unknown>;
  readonly at?: Date;
  readonly eventId?: string;
}

/**
 * Returns the event that the options describe: a tool call with `--tool`, or any category with `--category`.
 *
 * @throws UsageError when an option is missing
 */
export async function eventOf(flags: EventFlags): Promise<EventInput> {
  const { agent: agentId, session: sessionId, tool, category, at: sourceTimestamp, eventId } = flags;
  if (agentId === undefined || sessionId === undefined) {
    throw new UsageError('An event needs an agent and a session: add --agent and --session, or --file.');
  }
  const common = { agentId, sessionId, sourceTimestamp, eventId };
  if (tool !== undefined) {
    return { ...common, category: 'tool_api', payload: await toolCallPayload(tool, flags) } as EventInput;
  }
  if (category === undefined)
    throw new UsageError('Add --tool for a tool call, or --category and --payload.');
  return { ...common, category, payload: flags.payload ?? {} };
}

async function toolCallPayload(
  toolName: string,
  flags: EventFlags,
): Promise<EventInput<'tool_api'>['payload']> {
  const { hashArguments } = await import('@actlog/recorder');
  const argumentsHash = flags.argumentsHash ?? (await hashArguments(flags.arguments ?? {}));
  return { toolName, argumentsHash, responseStatus: flags.status };
}
