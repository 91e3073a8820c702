import { type AgentApp, agent, type PermissionOption, type ToolCallUpdate } from '@agentclientprotocol/sdk';

/** A call of an agent. */
export interface ScriptedCall {
  readonly toolCallId: string;
  readonly name: string;
  readonly rawInput: Record<string, unknown>;
  /** `true` runs the tool without permission. */
  readonly needsNoPermission?: boolean;
  /** Tool; undefined for one that does not exist. */
  readonly run?: ((signal: AbortSignal) => Promise<string>) | undefined;
}

/** Result of a call, as the agent's model gets it. */
export interface CallResult {
  readonly text: string;
  readonly isError: boolean;
}

export const permissionOptions: PermissionOption[] = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'always', name: 'Always', kind: 'allow_always' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
];

/**
 * Creates a coding agent that makes calls in each turn of its next prompts, all calls of a turn at once.
 *
 * @param sessionIds - ids of its sessions
 * @param turns - returns the turns of a prompt
 */
export function scriptedAgent(
  sessionIds: readonly string[],
  turns: (sessionId: string) => readonly (readonly ScriptedCall[])[],
): { readonly app: AgentApp; readonly results: CallResult[] } {
  const remaining = [...sessionIds];
  const results: CallResult[] = [];
  const canceled = new Map<string, AbortController>();
  const app = agent({ name: 'scripted' })
    .onRequest('initialize', ({ params }) => ({
      protocolVersion: params.protocolVersion,
      agentCapabilities: { loadSession: true },
    }))
    .onRequest('session/new', () => ({ sessionId: remaining.shift() ?? 'none' }))
    .onNotification('session/cancel', ({ params }) => canceled.get(params.sessionId)?.abort())
    .onRequest('session/prompt', async ({ params: { sessionId }, client }) => {
      const controller = new AbortController();
      canceled.set(sessionId, controller);
      const update = (toolCall: ToolCallUpdate, sessionUpdate = 'tool_call_update') =>
        client.notify('session/update', { sessionId, update: { ...toolCall, sessionUpdate } as never });
      const play = async (call: ScriptedCall): Promise<CallResult> => {
        const { toolCallId, name, rawInput, run } = call;
        const toolCall = { toolCallId, title: `Run ${name}`, name, kind: 'other' as const, rawInput };
        await update({ ...toolCall, status: 'pending' } as ToolCallUpdate, 'tool_call');
        if (!call.needsNoPermission) {
          const { outcome, _meta } = await client.request('session/request_permission', {
            sessionId,
            toolCall: toolCall as ToolCallUpdate,
            options: permissionOptions,
          });
          if (outcome.outcome === 'cancelled') return { text: 'canceled', isError: true };
          if (outcome.optionId === 'no') {
            await update({ toolCallId, status: 'failed' });
            return { text: String(_meta?.['actlog/reason'] ?? 'rejected'), isError: true };
          }
        }
        try {
          if (!run) throw new Error('There is no such tool.');
          const text = await run(controller.signal);
          const content = [{ type: 'content' as const, content: { type: 'text' as const, text } }];
          await update({ toolCallId, status: 'completed', content });
          return { text, isError: false };
        } catch (error) {
          await update({ toolCallId, status: 'failed' });
          return { text: (error as Error).message, isError: true };
        }
      };
      for (const turn of turns(sessionId)) {
        results.push(...(await Promise.all(turn.map(play))));
        if (controller.signal.aborted) return { stopReason: 'cancelled' };
      }
      return { stopReason: 'end_turn' };
    });
  return { app, results };
}
