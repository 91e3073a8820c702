/** Maximum number of tools of an agent that are kept. */
const maxTools = 1000;

/**
 * Tools that checks have allowed an agent to use since a policy reads them, of bounded size: beyond 1,000 tools, each
 * further one counts as a first use.
 */
export class AgentTools {
  readonly #toolNames: Set<string>;

  constructor(toolNames: Iterable<string> = []) {
    this.#toolNames = new Set(toolNames);
  }

  /** Parses the stored form. @throws SyntaxError for text that is not JSON. */
  static parse(text: string): AgentTools {
    return new AgentTools(JSON.parse(text) as string[]);
  }

  /** `true` if any tool passes the test. */
  has(matches: (toolName: string) => boolean): boolean {
    return [...this.#toolNames].some(matches);
  }

  /** Adds a tool. Returns `true` if the tools changed. */
  add(toolName: string): boolean {
    if (this.#toolNames.has(toolName) || this.#toolNames.size >= maxTools) return false;
    this.#toolNames.add(toolName);
    return true;
  }

  /** Returns the stored form as text. */
  serialize(): string {
    return JSON.stringify([...this.#toolNames]);
  }
}
