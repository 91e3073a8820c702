import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Actlog, type PendingAction, type PolicyCreate } from '@actlog/client';
import { type RunningServer, startServer } from '@actlog/server';
import { afterAll, afterEach } from 'vitest';
import type { RawGateway } from './raw-gateway.ts';

/** A call as recorded. */
export interface RecordedCall {
  readonly sessionId: string;
  readonly agentId: string;
  readonly toolName: string;
  readonly status: number;
  readonly argumentsHash: string;
}

/** A real service, with folders for the programs that record in it. */
export class TestService {
  readonly client: Actlog;
  readonly #server: RunningServer;
  readonly #folder = mkdtempSync(join(tmpdir(), 'actlog-gateway-'));

  private constructor(server: RunningServer) {
    this.#server = server;
    this.client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
  }

  static async start(): Promise<TestService> {
    return new TestService(await startServer({ database: ':memory:', port: 0, docs: false }));
  }

  get url(): string {
    return this.#server.url;
  }

  get agentKey(): string {
    return this.#server.agentKey ?? this.#server.apiKey;
  }

  /** Creates an empty folder that is removed with the service. */
  newFolder(): string {
    return mkdtempSync(join(this.#folder, 'folder-'));
  }

  /** Returns the environment of a program that records here. */
  environment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('ACTLOG_'));
    return {
      ...(Object.fromEntries(inherited) as Record<string, string>),
      ACTLOG_BASE_URL: this.url,
      ACTLOG_API_KEY: this.agentKey,
      ACTLOG_SPOOL_DIR: this.newFolder(),
      ACTLOG_PINS_DIR: this.newFolder(),
      ...more,
    };
  }

  /** Creates an address at which the service is unreachable until `open` is called. */
  async closedAddress(): Promise<{ readonly url: string; open(): void; close(): void }> {
    let isOpen = false;
    const { hostname, port } = new URL(this.url);
    const listener = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      if (!isOpen) {
        socket.destroy();
        return;
      }
      const service = connect(Number(port), hostname);
      service.on('error', () => socket.destroy());
      socket.pipe(service).pipe(socket);
    });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
    const open = () => {
      isOpen = true;
    };
    return { url, open, close: () => void listener.close() };
  }

  /** Creates a policy for tools, and returns a function that archives it. */
  async policy(effect: PolicyCreate['effect'], tools: readonly string[], more: Partial<PolicyCreate> = {}) {
    const match = { tools: [...tools] };
    const { id } = await this.client.policies.create({ name: `${effect} ${tools}`, effect, match, ...more });
    return () => this.client.policies.archive(id);
  }

  /** Returns the calls of an agent in the order of their recording, when there are as many as expected. */
  async calls(agentId: string, count: number): Promise<RecordedCall[]> {
    for (;;) {
      const calls = await this.#callsNow(agentId);
      if (calls.length >= count) return calls;
    }
  }

  /** Waits for a held action of an agent. */
  async held(agentId: string): Promise<PendingAction> {
    for (;;) {
      const pending = await this.client.guardian.pendingActions
        .list({ status: 'pending' })
        .toArray({ limit: 100 });
      const action = pending.find((one) => one.agentId === agentId);
      if (action) return action;
    }
  }

  async approve(agentId: string, changedArguments: Record<string, unknown> = {}): Promise<void> {
    const { id } = await this.held(agentId);
    await this.client.guardian.pendingActions.decide(id, { decision: 'approve', changedArguments });
  }

  async close(): Promise<void> {
    await this.#server.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #callsNow(agentId: string): Promise<RecordedCall[]> {
    const calls: RecordedCall[] = [];
    for await (const session of this.client.sessions.list({ agentId, limit: 100 })) {
      for await (const event of this.client.sessions.events(session.id)) {
        if (event.category !== 'tool_api') continue;
        const { toolName, responseStatus, argumentsHash } = event.payload as unknown as {
          toolName: string;
          responseStatus: number;
          argumentsHash: string;
        };
        const source = { sessionId: String(event.sessionId), agentId: String(event.agentId) };
        calls.push({ ...source, toolName, status: responseStatus, argumentsHash });
      }
    }
    return calls;
  }
}

/** A service for the tests of a file. */
export interface ServiceOfFile {
  readonly service: TestService;
  /** Gateways that end with the current test. */
  readonly open: RawGateway[];
  /** Archive the policies of the current test at its end. */
  readonly archive: (() => PromiseLike<unknown>)[];
}

/** Starts a service that closes after the tests of the file. */
export async function serviceOfFile(): Promise<ServiceOfFile> {
  const service = await TestService.start();
  const open: ServiceOfFile['open'] = [];
  const archive: ServiceOfFile['archive'] = [];
  afterEach(async () => {
    for (const gateway of open.splice(0)) await gateway.end();
    for (const policy of archive.splice(0)) await policy();
  });
  afterAll(() => service.close());
  return { service, open, archive };
}
