/** Maximum length of a pattern and of a text that is compared with one, in characters. */
export const maxPatternLength = 1000;

/**
 * Returns the problem of a pattern of claims, or `undefined` if it is valid: `*` stands for any characters but `/` and `:`,
 * once between two of them, and `**` at the end for any characters.
 */
export function patternProblem(pattern: string): string | undefined {
  if (pattern === '') return 'must not be empty';
  const parts = pattern.replace(/\*\*$/, '').split(/[/:]/);
  if (parts.some((part) => part.split('*').length > 2)) {
    return 'has "*" twice between two of "/" and ":", or "**" before its end; use one "*" in each part, or "**" at the end';
  }
  return undefined;
}

/** A compiled pattern of claims. Matching takes time linear in the lengths of the pattern and the text. */
class ClaimPattern {
  readonly #expression: RegExp;

  constructor(pattern: string) {
    const source = pattern
      .split(/(\*\*$|\*)/)
      .map((part) => (part === '**' ? '(.*)' : part === '*' ? '([^/:]*)' : literal(part)))
      .join('');
    this.#expression = new RegExp(`^${source}$`, 'su');
  }

  /** Returns the texts that the wildcards stand for, or `undefined` if the whole of `text` does not match. */
  match(text: string): readonly string[] | undefined {
    return this.#expression.exec(text)?.slice(1);
  }
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}

/** Placeholder of an agent id: `$1` is what the first wildcard of the pattern stands for. */
const placeholder = /\$([1-9])/;

/** Returns the problem of the agent id of a pattern, or `undefined` if it is valid. */
export function agentIdProblem(pattern: string, agentId: string): string | undefined {
  const wildcards = pattern.split(/\*\*$|\*/).length - 1;
  const missing = [...agentId.matchAll(/\$([1-9])/g)].find(([, at]) => Number(at) > wildcards);
  if (missing)
    return `has ${missing[0]}, but the pattern has ${wildcards} wildcards; use $1 for the first "*"`;
  return undefined;
}

/** The agents that a subject may be, by the patterns of its issuer. */
export class AgentPatterns {
  readonly #rows: readonly { readonly pattern: ClaimPattern; readonly agentIds: readonly string[] }[];

  /** @param agents - agent ids by pattern; in an id, `*` stands for any characters, `$1` for the first wildcard */
  constructor(agents: Readonly<Record<string, readonly string[]>>) {
    this.#rows = Object.entries(agents).map(([pattern, agentIds]) => ({
      pattern: new ClaimPattern(pattern),
      agentIds,
    }));
  }

  /** `true` if there is no pattern, so that tokens of the issuer name no agents. */
  get isEmpty(): boolean {
    return this.#rows.length === 0;
  }

  /** Returns the agents of a subject; empty if no pattern matches. */
  agentsOf(subject: string): readonly VerifiedAgent[] {
    if (subject.length > maxPatternLength) return [];
    return this.#rows.flatMap(({ pattern, agentIds }) => {
      const texts = pattern.match(subject);
      return texts === undefined ? [] : agentIds.map((agentId) => new VerifiedAgent(agentId, texts));
    });
  }
}

/** An agent, or a family of agents, that a token verifies. */
export class VerifiedAgent {
  /** The id for people, in which `*` stands for any characters. */
  readonly pattern: string;
  /** Parts of the id between which any characters may be. What a subject contains is never a wildcard. */
  readonly #parts: readonly string[];

  constructor(agentId: string, texts: readonly string[]) {
    const filled = (part: string) =>
      part
        .split(placeholder)
        .map((piece, at) => (at % 2 === 1 ? (texts[Number(piece) - 1] ?? '') : piece))
        .join('');
    this.#parts = agentId.split('*').map(filled);
    this.pattern = this.#parts.join('*');
  }

  /** `true` if this is the agent with an id. */
  matches(agentId: string): boolean {
    const [first = '', ...others] = this.#parts;
    const last = others.pop();
    if (last === undefined) return agentId === first;
    const end = agentId.length - last.length;
    if (end < first.length || !agentId.startsWith(first) || !agentId.endsWith(last)) return false;
    let from = first.length;
    for (const part of others) {
      const at = agentId.indexOf(part, from);
      if (at < 0 || at + part.length > end) return false;
      from = at + part.length;
    }
    return true;
  }
}
