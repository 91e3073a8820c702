import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog, type StoredEvent } from '@actlog/client';
import { toolCallCategory } from '@actlog/protocol';
import { type GuardOptions, Recorder, type RecorderOptions } from '@actlog/recorder';
import { startServer } from '@actlog/server';

/** An event as the tests look at it. */
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
  readonly #folder = mkdtempSync(join(tmpdir(), 'actlog-langchain-'));
  readonly #recorders: Recorder[] = [];

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

  recorder(options: RecorderOptions = {}): Recorder {
    const spoolDir = join(this.#folder, String(this.#recorders.length));
    const recorder = new Recorder({ client: this.client, agentId: 'tester', spoolDir, ...options });
    this.#recorders.push(recorder);
    return recorder;
  }

  /** A recorder that asks before every call. */
  guarded(guard: Partial<GuardOptions> = {}): Recorder {
    return this.recorder({ guard: { mode: 'enforce', onUnavailable: 'deny', ...guard } });
  }

  /** The tool calls that the service has of a session once everything recorded is delivered, oldest first. */
  async events(sessionId: string): Promise<SeenEvent[]> {
    for (const recorder of this.#recorders) await recorder.flush();
    const events = await this.client.sessions.events(sessionId).toArray({ limit: 1000 });
    return events.filter(({ category }) => category === toolCallCategory).map(seen);
  }

  /** Waits until an action of the session is held, and decides it. */
  async decide(sessionId: string, decision: 'approve' | 'deny'): Promise<void> {
    const { pendingActions } = this.client.guardian;
    for (let turn = 0; turn < 10_000; turn += 1) {
      const [held] = await pendingActions.list({ sessionId }).toArray({ limit: 1 });
      if (!held) continue;
      await pendingActions.decide(held.id, { decision });
      return;
    }
    throw new Error(`No action of session ${sessionId} was held.`);
  }

  async close(): Promise<void> {
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
