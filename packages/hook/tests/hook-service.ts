import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Actlog,
  NotFoundError,
  type PendingAction,
  type PolicyCreate,
  type StoredEvent,
} from '@actlog/client';
import { toolCallCategory } from '@actlog/protocol';
import { startServer } from '@actlog/server';
import { expect } from 'vitest';

/** A real server on loopback, and folders for the agents that report to it. */
export class HookService {
  readonly client: Actlog;
  readonly #server: Awaited<ReturnType<typeof startServer>>;
  readonly #folder = mkdtempSync(join(tmpdir(), 'actlog-hook-'));

  private constructor(server: Awaited<ReturnType<typeof startServer>>) {
    this.#server = server;
    this.client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
  }

  static async start(): Promise<HookService> {
    return new HookService(await startServer({ database: ':memory:', port: 0 }));
  }

  /** Returns an empty folder that is removed with the service. */
  newFolder(): string {
    return mkdtempSync(join(this.#folder, 'home-'));
  }

  /** Returns the variables of an agent with its own home, which runs the hook from its sources. */
  environment(home: string): Record<string, string> {
    return {
      PATH: String(process.env.PATH),
      HOME: home,
      TMPDIR: home,
      NODE_OPTIONS: '--conditions=@actlog/source --disable-warning=ExperimentalWarning',
      NODE_COMPILE_CACHE: String(process.env.NODE_COMPILE_CACHE),
      ACTLOG_BASE_URL: this.#server.url,
      ACTLOG_API_KEY: this.#server.apiKey,
      ACTLOG_SPOOL_DIR: join(home, 'spool'),
    };
  }

  /** Returns the tool calls of a session as lines of agent, tool and status, in the order in which the calls ended. */
  async calls(sessionId: string): Promise<string[]> {
    const events = (await this.events(sessionId)).filter(({ category }) => category === toolCallCategory);
    return events.map(({ agentId, payload }) => `${agentId} ${payload?.toolName} ${payload?.responseStatus}`);
  }

  /** Expects the tool calls of a session once they are delivered, in any order. */
  async expectCalls(sessionId: string, calls: readonly string[]): Promise<void> {
    await expect.poll(async () => (await this.calls(sessionId)).sort()).toEqual([...calls].sort());
  }

  /** Expects that the call of a session is recorded with the hash of the arguments that its approver changed. */
  async expectChangedCall(sessionId: string): Promise<void> {
    const events = await this.events(sessionId);
    const ran = events.find(({ category }) => category === toolCallCategory);
    const approved = events.find(({ payload }) => payload?.decision === 'changed');
    expect(ran?.payload?.argumentsHash).toBe(approved?.payload?.argumentsHash);
    expect(ran?.payload?.argumentsHash).not.toBe(approved?.payload?.requestedHash);
  }

  async events(sessionId: string): Promise<StoredEvent[]> {
    const events = this.client.sessions.events(sessionId).toArray({ limit: 1000 });
    return events.catch((error: unknown) => {
      if (error instanceof NotFoundError) return [];
      throw error;
    });
  }

  /** Creates a policy until the returned function is called. */
  async policy(policy: PolicyCreate): Promise<() => Promise<unknown>> {
    const { id } = await this.client.policies.create(policy);
    return () => this.client.policies.archive(id);
  }

  /** Creates a policy that holds a tool, and lets the approver change its command, until the returned function is called. */
  changeable(toolName: string, framework?: string): Promise<() => Promise<unknown>> {
    return this.policy({
      name: 'hold',
      effect: 'require_approval',
      match: { tools: [toolName], ...(framework && { frameworks: [framework] }) },
      approval: { timeoutSeconds: 60, onTimeout: 'deny', editable: [{ path: 'command', anyText: true }] },
    });
  }

  /** Waits until an action of the session is held, and decides it. */
  async decide(
    sessionId: string,
    decision: 'approve' | 'deny',
    changedArguments?: Record<string, unknown>,
  ): Promise<void> {
    const { pendingActions } = this.client.guardian;
    let held: PendingAction | undefined;
    while (!held) [held] = await pendingActions.list({ sessionId, status: 'pending' }).toArray({ limit: 1 });
    await pendingActions.decide(held.id, { decision, ...(changedArguments && { changedArguments }) });
  }

  /** Returns the status of the held action of a session. */
  async heldStatus(sessionId: string): Promise<string | undefined> {
    for (const status of ['pending', 'approved', 'denied', 'expired', 'withdrawn'] as const) {
      const [held] = await this.client.guardian.pendingActions
        .list({ sessionId, status })
        .toArray({ limit: 1 });
      if (held) return status;
    }
    return undefined;
  }

  async close(): Promise<void> {
    await this.#server.close();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}
