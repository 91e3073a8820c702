import type { Actlog } from '@actlog/client';
import { findDeniedTools } from '@actlog/client/server';
import type { ToolCaller } from './tool-definition.ts';

/** Options of {@link DeniedTools}. */
export interface DeniedToolsOptions {
  readonly client: Actlog;
  /** Environment of the agents, such as `production`. */
  readonly environment?: string | undefined;
  /** Text in front of each tool's name for policies. */
  readonly toolPrefix?: string | undefined;
  /** `true` hides what the service said last while it is unreachable. Default: nothing is hidden then. */
  readonly keepsHidden?: boolean | undefined;
  /** Interval at which the service is asked again, in milliseconds. Default 30,000. */
  readonly refreshMs?: number | undefined;
}

/** Tools of one agent, as the service was asked about them. */
interface AgentTools {
  names: Set<string>;
  hidden: ReadonlySet<string>;
}

/** Maximum number of agents to remember. */
const maxAgents = 1000;

/** Time limit for the service, in milliseconds: a client waits for its list. */
const timeoutMs = 3000;

/** Tools that policies always deny an agent, by the service. */
export class DeniedTools {
  readonly #options: DeniedToolsOptions;
  readonly #agents = new Map<string, AgentTools>();
  readonly #listeners = new Set<(agentId: string) => void>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: DeniedToolsOptions) {
    this.#options = options;
  }

  /** Calls a function with an agent whose denied tools are others than in its last list. */
  onChange(listener: (agentId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Returns the names that policies always deny an agent. Never rejects.
   *
   * @param isFirst - `true` if a new list begins with them
   */
  async of(
    names: readonly string[],
    { agentId }: ToolCaller,
    isFirst: boolean,
  ): Promise<ReadonlySet<string>> {
    if (agentId === undefined || names.length === 0) return new Set();
    const known = this.#agents.get(agentId);
    const agent = known ?? { names: new Set<string>(), hidden: new Set<string>() };
    if (isFirst) agent.names = new Set();
    for (const name of names) agent.names.add(name);
    this.#agents.delete(agentId);
    this.#agents.set(agentId, agent); // re-added as the newest
    const [oldest] = this.#agents.keys();
    if (this.#agents.size > maxAgents && oldest !== undefined) this.#agents.delete(oldest);
    const hidden = await this.#ask(agentId, names);
    if (hidden) agent.hidden = new Set([...(isFirst ? [] : agent.hidden), ...hidden]);
    else if (!this.#options.keepsHidden) agent.hidden = new Set();
    this.#timer ??= setInterval(() => this.refresh(), this.#options.refreshMs ?? 30_000).unref();
    return agent.hidden;
  }

  /** Asks the service again, and reports the agents for which its response differs. */
  refresh(): void {
    for (const [agentId, agent] of this.#agents) void this.#refreshAgent(agentId, agent);
  }

  /** Ends the refreshing. */
  close(): void {
    clearInterval(this.#timer);
    this.#agents.clear();
  }

  async #refreshAgent(agentId: string, agent: AgentTools): Promise<void> {
    const hidden =
      (await this.#ask(agentId, [...agent.names])) ?? (this.#options.keepsHidden ? agent.hidden : new Set());
    const isSame = hidden.size === agent.hidden.size && [...hidden].every((name) => agent.hidden.has(name));
    if (isSame || this.#agents.get(agentId) !== agent) return;
    agent.hidden = hidden;
    for (const listener of this.#listeners) listener(agentId);
  }

  /** Returns the names that are denied; undefined if the service does not say. */
  async #ask(agentId: string, names: readonly string[]): Promise<ReadonlySet<string> | undefined> {
    const { client, environment, toolPrefix = '' } = this.#options;
    const tools = new Map(names.map((name) => [`${toolPrefix}${name}`, name]));
    try {
      const question = { agentId, framework: 'mcp', environment, tools: [...tools.keys()] };
      const denied = await findDeniedTools(client, question, { timeoutMs, maxRetries: 0 });
      return new Set(denied.flatMap((tool) => tools.get(tool) ?? []));
    } catch {
      return undefined;
    }
  }
}
