import { responseStatuses, type ToolOutcome } from '@actlog/recorder';
import { exitStatus, shellStatus } from '@actlog/recorder/adapter';

/** Parts of a step's content that relate to tool calls, in `ai` 6 and 7. */
interface StepPart {
  readonly type: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly error?: unknown;
  readonly invalid?: boolean;
  readonly providerExecuted?: boolean;
  readonly preliminary?: boolean;
  readonly approved?: boolean;
  readonly toolCall?: { readonly toolCallId?: string };
}

/** A step of a run that has ended. */
export interface EndedStep {
  readonly content: readonly unknown[];
  readonly finishReason: string;
  /** Run that the step belongs to, in `ai` 7. */
  readonly callId?: string;
}

/** A call for which no tool of this process was run, with its outcome. */
export interface StepCall {
  /** Part that contains the outcome; identifies the call. */
  readonly part: object;
  readonly toolName: string;
  readonly toolCallId: string;
  readonly input: unknown;
  /** `true` if the provider runs the tool. */
  readonly isProviders: boolean;
  readonly outcome: ToolOutcome;
}

/** Finish reasons of steps that end before their tools are run. */
const unfinished = new Set(['length', 'content-filter', 'error', 'interrupted']);

/** Returns the calls of a step for which no tool of this process was run. */
export function stepCalls({ content, finishReason }: EndedStep): StepCall[] {
  const parts = content as readonly StepPart[];
  const resolved = new Set(parts.filter(isResult).map(({ toolCallId }) => toolCallId));
  const verdicts = new Map(
    parts.filter(isApproval).map((part) => [part.toolCall?.toolCallId, part.approved]),
  );
  return parts.flatMap((part) => {
    const { type, toolCallId, toolName, input, providerExecuted: isProviders = false } = part;
    if (toolCallId === undefined || toolName === undefined) return [];
    const ended = (outcome: ToolOutcome) => [{ part, toolName, toolCallId, input, isProviders, outcome }];
    if (isResult(part)) return isProviders ? ended(outcomeOf(part)) : [];
    if (type !== 'tool-call') return [];
    if (part.invalid && !(isProviders && resolved.has(toolCallId))) {
      return ended({ ok: false, error: part.error });
    }
    if (resolved.has(toolCallId)) return [];
    const isApproved = verdicts.has(toolCallId) ? verdicts.get(toolCallId) : true;
    if (isApproved === false) return ended({ ok: false, error: denial });
    return isApproved && !isProviders && !unfinished.has(finishReason) ? ended(handedOver()) : [];
  });
}

/** Returns the calls of a step that the provider has not yet responded to. */
export function awaitedCalls({ content }: EndedStep): { toolCallId: string; input: unknown }[] {
  const parts = content as readonly StepPart[];
  const resolved = new Set(parts.filter(isResult).map(({ toolCallId }) => toolCallId));
  return parts.flatMap(({ type, toolCallId, providerExecuted, input }) => {
    const isAwaited = type === 'tool-call' && providerExecuted && !resolved.has(toolCallId);
    return isAwaited && toolCallId !== undefined ? [{ toolCallId, input }] : [];
  });
}

/** Returns the provider's tool calls in a response of the model, finished or not. */
export function providerCalls(content: readonly unknown[]): { callId: string; toolName: string }[] {
  return (content as readonly StepPart[]).flatMap(
    ({ type, toolCallId: callId, toolName, providerExecuted }) => {
      const isCall = type === 'tool-call' && providerExecuted;
      return isCall && callId !== undefined && toolName !== undefined ? [{ callId, toolName }] : [];
    },
  );
}

function isResult({ type, preliminary }: StepPart): boolean {
  return (type === 'tool-result' || type === 'tool-error') && !preliminary;
}

/** Returns `true` for parts of an approval. A request without a response waits for one in a later run. */
function isApproval({ type }: StepPart): boolean {
  return type === 'tool-approval-request' || type === 'tool-approval-response';
}

function outcomeOf({ type, output, error }: StepPart): ToolOutcome {
  if (type !== 'tool-result') return { ok: false, error };
  const { return_code: exit, output: outputs } = (output ?? {}) as Readonly<Record<string, unknown>>;
  const status = typeof exit === 'number' && exit !== 0 ? exitStatus(exit) : shellStatus(outputs);
  if (status === undefined) return { ok: true, result: output };
  return { ok: false, error: Object.assign(new Error('The command failed.'), { status }) };
}

/** Error of a call that the application's `toolApproval` denied. */
const denial = Object.assign(new Error('The call was denied by toolApproval.'), {
  status: responseStatuses.denied,
});

/** Returns the outcome of a tool without `execute`, which the client runs, so that its result is not known here. */
function handedOver(): ToolOutcome {
  return { ok: true, result: new Response(null, { status: 202 }) };
}
