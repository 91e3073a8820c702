import type { Actlog } from '@actlog/client';
import { createEventId } from '@actlog/recorder/adapter';
import type { ToolCaller } from './tool-definition.ts';

/** Tool name of the action by which an approver accepts a definition. */
export const acceptanceTool = 'accept_tool_definition';

/** A definition to accept, as the approver sees it. */
export interface DefinitionQuestion {
  readonly tool: string;
  /** Program or address of the server. */
  readonly server: string;
  /** Lines with what changed. */
  readonly difference: string;
  /** Reason for suspicion, if there is one. */
  readonly problem?: string | undefined;
}

/** Decision about a definition; `none` if no policy is about it. */
export type DefinitionDecision =
  | { readonly decision: 'accept'; readonly by: string }
  | { readonly decision: 'deny' | 'none' };

/** Seconds for which the service may wait for an approver in one request. */
const waitSeconds = 25;

/**
 * Approvals of definitions by the service: accepting a definition is an action that policies decide about. Only a policy
 * or a person accepts: an action that no policy is about is not accepted.
 */
export class DefinitionApprovals {
  readonly #client: Actlog;
  readonly #environment: string | undefined;

  /** @param environment - environment of the agents, such as `production` */
  constructor(client: Actlog, environment: string | undefined) {
    this.#client = client;
    this.#environment = environment;
  }

  /** Resolves when a policy or a person has decided, or nobody is going to. Never rejects. */
  async decide(
    { tool, server, difference, problem }: DefinitionQuestion,
    { agentId = '', sessionId }: ToolCaller,
    signal: AbortSignal,
  ): Promise<DefinitionDecision> {
    const shown = { tool, server, difference, ...(problem !== undefined && { problem }) };
    try {
      const { hashArguments } = await import('@actlog/recorder');
      const check = {
        agentId,
        sessionId,
        framework: 'mcp',
        ...(this.#environment !== undefined && { environment: this.#environment }),
        actionId: createEventId(Date.now()),
        action: { toolName: acceptanceTool, argumentsHash: await hashArguments(shown), arguments: shown },
      };
      let options: { readonly signal: AbortSignal; readonly waitSeconds?: number } = { signal };
      for (;;) {
        const { decision, decidedBy, pendingActionId } = await this.#client.policies.check(check, options);
        options = { signal, waitSeconds };
        if (decision === 'require_approval') continue;
        const by = pendingActionId ?? decidedBy;
        if (by === null || by === undefined) return { decision: 'none' };
        return decision === 'allow' ? { decision: 'accept', by: `approval ${by}` } : { decision: 'deny' };
      }
    } catch {
      return { decision: 'none' }; // the service is unreachable: the command still accepts
    }
  }
}
