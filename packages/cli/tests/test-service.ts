import { Actlog, type EventInput } from '@actlog/client';
import { type RunningServer, startServer } from '@actlog/server';

/** A real server in memory, a client with every scope, and the variables with which the command finds it. */
export class TestService {
  readonly server: RunningServer;
  readonly client: Actlog;
  readonly env: Readonly<Record<string, string>>;
  /** Variables with the key of agents, which cannot approve. */
  readonly agentEnv: Readonly<Record<string, string>>;

  private constructor(server: RunningServer) {
    this.server = server;
    this.client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
    this.env = { ACTLOG_BASE_URL: server.url, ACTLOG_API_KEY: server.apiKey };
    this.agentEnv = { ACTLOG_BASE_URL: server.url, ACTLOG_API_KEY: String(server.agentKey) };
  }

  static async start(): Promise<TestService> {
    return new TestService(await startServer({ port: 0, database: ':memory:' }));
  }

  /** Records tool calls of a session. */
  async record(sessionId: string, toolNames: readonly string[], agentId = 'billing'): Promise<void> {
    for (const toolName of toolNames) {
      const payload = { toolName, argumentsHash: 'sha256:00', responseStatus: 200 };
      const event: EventInput = { agentId, sessionId, category: 'tool_api', payload } as EventInput;
      await this.client.events.create(event);
    }
  }

  /** Holds an action of a tool, which a policy for that tool sends to an approver. Returns the id of the action. */
  async hold(toolName: string, shown?: Readonly<Record<string, unknown>>): Promise<string> {
    await this.client.policies.create({
      name: `hold ${toolName}`,
      effect: 'require_approval',
      match: { tools: [toolName] },
      message: 'A person decides.',
    });
    const action = { toolName, argumentsHash: 'sha256:00', ...(shown && { arguments: shown }) };
    const { pendingActionId } = await this.client.policies.check({
      agentId: 'buyer',
      sessionId: 's',
      action,
    });
    return String(pendingActionId);
  }

  close(): Promise<void> {
    return this.server.close();
  }
}
