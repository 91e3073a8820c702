/** Integration that an event came through. Determines the `x-service-*` headers of its request. */
export interface Origin {
  /** Name of the AI framework, such as `langchain`. */
  readonly framework?: string | undefined;
  /** Identifier and version of the integration, such as `@actlog/langchain/1.0.0`. */
  readonly sdk?: string | undefined;
  /** Version of the agent. */
  readonly agentVersion?: string | undefined;
}

/** An origin as stored in the journal: a JSON array of framework, sdk and agent version. */
export type OriginKey = string;

/** Maximum length of a name or version; longer ones are truncated to bound the length of a journal line. */
const maxPartLength = 1_000;

/** Serializes an origin for the journal. */
export function originKey({ framework, sdk, agentVersion }: Origin): OriginKey {
  return JSON.stringify([shorten(framework), shorten(sdk), shorten(agentVersion)]);
}

function shorten(part: string | undefined): string | null {
  if (part === undefined || part === null) return null;
  return part.length > maxPartLength ? part.slice(0, maxPartLength) : part;
}

/**
 * Parses an origin from the journal.
 *
 * @throws SyntaxError when the text is not JSON
 */
export function parseOriginKey(key: OriginKey): Origin {
  const parts: unknown = JSON.parse(key);
  const [framework, sdk, agentVersion] = Array.isArray(parts) ? parts.map((part) => part ?? undefined) : [];
  return { framework, sdk, agentVersion };
}
