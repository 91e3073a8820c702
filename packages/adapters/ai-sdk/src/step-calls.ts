import { responseStatuses, type ToolOutcome } from '@actlog/recorder';

/** The parts of a step's content that tool calls are made of, in `ai` 6 and 7. */
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

/** What a step of a run tells when it has ended. */
export interface EndedStep {
  readonly content: readonly unknown[];
  readonly finishReason: string;
  /** The run that the step belongs to, in `ai` 7. */
  readonly callId?: string;
}

/** A call that no tool of this process was run for, and how it ended. */
export interface StepCall {
  /** The part that tells its end; a call is known by it. */
  readonly part: object;
  readonly toolName: string;
  readonly toolCallId: string;
  readonly input: unknown;
  /** Whether the provider was to run it. */
  readonly isProviders: boolean;
  readonly outcome: ToolOutcome;
}

/** Reasons for which a step ends before its tools are run. */
const unfinished = new Set(['length', 'content-filter', 'error', 'interrupted']);

/** The calls of a step that no tool of this process was run for. */
export function stepCalls({ content, finishReason }: EndedStep): StepCall[] {
  const parts = content as readonly StepPart[];
  const answered = new Set(parts.filter(isAnswer).map(({ toolCallId }) => toolCallId));
  const verdicts = new Map(
    parts.filter(isApproval).map((part) => [part.toolCall?.toolCallId, part.approved]),
  );
  return parts.flatMap((part) => {
    const { type, toolCallId, toolName, input, providerExecuted: isProviders = false } = part;
    if (toolCallId === undefined || toolName === undefined) return [];
    const ended = (outcome: ToolOutcome) => [{ part, toolName, toolCallId, input, isProviders, outcome }];
    if (isAnswer(part)) return isProviders ? ended(answerOf(part)) : [];
    if (type !== 'tool-call') return [];
    if (part.invalid && !(isProviders && answered.has(toolCallId))) {
      return ended({ ok: false, error: part.error });
    }
    if (answered.has(toolCallId)) return [];
    const isApproved = verdicts.has(toolCallId) ? verdicts.get(toolCallId) : true;
    if (isApproved === false) return ended({ ok: false, error: denial });
    return isApproved && !isProviders && !unfinished.has(finishReason) ? ended(handedOver()) : [];
  });
}

/** What a step asks of the provider and has no answer to yet. */
export function awaitedCalls({ content }: EndedStep): { toolCallId: string; input: unknown }[] {
  const parts = content as readonly StepPart[];
  const answered = new Set(parts.filter(isAnswer).map(({ toolCallId }) => toolCallId));
  return parts.flatMap(({ type, toolCallId, providerExecuted, input }) => {
    const isAwaited = type === 'tool-call' && providerExecuted && !answered.has(toolCallId);
    return isAwaited && toolCallId !== undefined ? [{ toolCallId, input }] : [];
  });
}

/** What an answer of the model tells of tools that the provider ran, or runs on. */
export function providerCalls(content: readonly unknown[]): { callId: string; toolName: string }[] {
  return (content as readonly StepPart[]).flatMap(
    ({ type, toolCallId: callId, toolName, providerExecuted }) => {
      const isCall = type === 'tool-call' && providerExecuted;
      return isCall && callId !== undefined && toolName !== undefined ? [{ callId, toolName }] : [];
    },
  );
}

function isAnswer({ type, preliminary }: StepPart): boolean {
  return (type === 'tool-result' || type === 'tool-error') && !preliminary;
}

/** A request without an answer waits for one in a later run. */
function isApproval({ type }: StepPart): boolean {
  return type === 'tool-approval-request' || type === 'tool-approval-response';
}

function answerOf({ type, output, error }: StepPart): ToolOutcome {
  return type === 'tool-result' ? { ok: true, result: output } : { ok: false, error };
}

/** The application's own `toolApproval` said no. */
const denial = Object.assign(new Error('The call was denied by toolApproval.'), {
  status: responseStatuses.denied,
});

/** A tool without `execute` is for the client to run: what comes of it is not known here. */
function handedOver(): ToolOutcome {
  return { ok: true, result: new Response(null, { status: 202 }) };
}
