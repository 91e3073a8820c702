import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog, NotFoundError, type PendingAction, type Policy, type StoredEvent } from '@actlog/client';
import {
  type ArgumentOriginsPayload,
  argumentOriginsCategory,
  type SubagentCallPayload,
  subagentCallCategory,
  toolCallCategory,
} from '@actlog/protocol';
import { type GuardOptions, Recorder, type RecorderOptions } from '@actlog/recorder';
import { startServer } from '@actlog/server';

/** An event as compared by the tests. */
export interface SeenEvent {
  readonly sessionId: string;
  readonly agentId: string;
  readonly toolName: string;
  readonly status: number;
}

/** A real server, a client of it, and recorders that send to it. */
export class Service {
  readonly client: Actlog;
  readonly #server: Awaited<ReturnType<typeof startServer>>;
  readonly #folder = mkdtempSync(join(tmpdir(), 'actlog-adapter-'));
  readonly #recorders: Recorder[] = [];
  readonly #doomed: Recorder[] = [];

  private constructor(server: Awaited<ReturnType<typeof startServer>>) {
    this.#server = server;
    this.client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
  }

  static async start(): Promise<Service> {
    return new Service(await startServer({ port: 0 }));
  }

  get url(): string {
    return this.#server.url;
  }

  get apiKey(): string {
    return this.#server.apiKey;
  }

  /** Creates a recorder of agent `tester` for this service, closed with it. */
  recorder(options: RecorderOptions = {}): Recorder {
    const recorder = new Recorder({
      client: this.client,
      agentId: 'tester',
      spoolDir: this.newFolder(),
      ...options,
    });
    this.#recorders.push(recorder);
    return recorder;
  }

  /** Creates a recorder that cannot deliver; its events are not awaited. */
  doomedRecorder(options: RecorderOptions): Recorder {
    const recorder = new Recorder({ agentId: 'tester', spoolDir: this.newFolder(), ...options });
    this.#doomed.push(recorder);
    return recorder;
  }

  /** Creates a recorder that checks every call. */
  guarded(guard: Partial<GuardOptions> = {}): Recorder {
    return this.recorder({ guard: { mode: 'enforce', onUnavailable: 'deny', ...guard } });
  }

  /** Creates a policy that denies a tool, and returns it. */
  denyTool(toolName: string, message?: string): Promise<Policy> {
    const match = { tools: [toolName] };
    return this.client.policies.create({ name: 'no', effect: 'deny', match, ...(message && { message }) });
  }

  /** Creates a policy that holds a tool for approval, and returns it. */
  holdTool(toolName: string): Promise<Policy> {
    return this.client.policies.create({
      name: 'ask',
      effect: 'require_approval',
      match: { tools: [toolName] },
    });
  }

  /** Creates an empty folder that is removed with the service. */
  newFolder(): string {
    return mkdtempSync(join(this.#folder, 'spool-'));
  }

  /** Returns the tool calls of a session, oldest first, after everything recorded is delivered. */
  async events(sessionId: string): Promise<SeenEvent[]> {
    return (await this.storedEvents(sessionId)).map(seen);
  }

  /** Returns the events of a session as lines of agent, tool and status, such as `worker echo 200`. */
  async callLines(sessionId: string): Promise<string[]> {
    const events = await this.events(sessionId);
    return events.map(({ agentId, toolName, status }) => `${agentId} ${toolName} ${status}`);
  }

  /** Returns the tool calls of a session as stored by the service, after everything recorded is delivered. */
  async storedEvents(sessionId: string): Promise<StoredEvent[]> {
    const events = await this.#allEvents(sessionId);
    return events.filter(({ category }) => category === toolCallCategory);
  }

  async #allEvents(sessionId: string): Promise<StoredEvent[]> {
    for (const recorder of this.#recorders) await recorder.flush();
    return this.client.sessions
      .events(sessionId)
      .toArray({ limit: 1000 })
      .catch((error: unknown) => {
        if (error instanceof NotFoundError) return []; // nothing was recorded in this session
        throw error;
      });
  }

  /**
   * Returns the payloads of a session's `argument_origins` events, after everything recorded is delivered.
   *
   * @param ofTool - tool of the calls; default: any
   */
  async argumentOrigins(sessionId: string, ofTool?: string): Promise<ArgumentOriginsPayload[]> {
    const events = await this.#allEvents(sessionId);
    return events
      .filter(({ category }) => category === argumentOriginsCategory)
      .map(({ payload }) => payload as unknown as ArgumentOriginsPayload)
      .filter(({ toolName }) => ofTool === undefined || toolName === ofTool);
  }

  /**
   * Returns the calls of agents inside others and of subagents, as lines of subagent or agent, the agents around it, and
   * tool, such as `inner in outer, root: echo`.
   */
  async innerCalls(sessionId: string): Promise<string[]> {
    const events = await this.#allEvents(sessionId);
    const ofCalls = events.filter(({ category }) => category === subagentCallCategory);
    return ofCalls.map(({ agentId, payload }) => {
      const { eventId, toolName, subagent, parentAgentIds = [] } = payload as SubagentCallPayload;
      const isOfCall = events.some((event) => event.eventId === eventId && event.agentId === agentId);
      if (!isOfCall) throw new Error(`An event about a subagent is about no call: ${eventId}`);
      const name = subagent === undefined ? agentId : `${agentId} · ${subagent}`;
      return `${name}${parentAgentIds.length > 0 ? ` in ${parentAgentIds.join(', ')}` : ''}: ${toolName}`;
    });
  }

  /** Waits until an action of the session is held. */
  async held(sessionId: string): Promise<PendingAction> {
    const { pendingActions } = this.client.guardian;
    for (let turn = 0; turn < 10_000; turn += 1) {
      const [held] = await pendingActions.list({ sessionId, status: 'pending' }).toArray({ limit: 1 });
      if (held) return held;
    }
    throw new Error(`No action of session ${sessionId} was held.`);
  }

  /** Returns the actions of a session that were approved. */
  approved(sessionId: string): Promise<PendingAction[]> {
    const { pendingActions } = this.client.guardian;
    return pendingActions.list({ sessionId, status: 'approved' }).toArray({ limit: 10 });
  }

  /** Waits until an action of the session is held, and decides it. */
  async decide(sessionId: string, decision: 'approve' | 'deny'): Promise<void> {
    const { id } = await this.held(sessionId);
    await this.client.guardian.pendingActions.decide(id, { decision });
  }

  async close(): Promise<void> {
    for (const recorder of this.#doomed) await recorder.close({ timeoutMs: 0 });
    for (const recorder of this.#recorders) await recorder.close();
    await this.#server.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function seen({ sessionId, agentId, payload }: StoredEvent): SeenEvent {
  const { toolName, responseStatus } = payload ?? {};
  return {
    sessionId: String(sessionId),
    agentId: String(agentId),
    toolName: String(toolName),
    status: Number(responseStatus),
  };
}
