/** Which integration an event came through; it decides the `x-service-*` headers that the event is sent with. */
export interface Origin {
  /** Name of the AI framework, such as `langchain`. */
  readonly framework?: string | undefined;
  /** Identifier and version of the integration, such as `@actlog/langchain/1.0.0`. */
  readonly sdk?: string | undefined;
  /** Version of the agent. */
  readonly agentVersion?: string | undefined;
}

/** An origin as it stands in the journal: a JSON array of framework, sdk and agent version. */
export type OriginKey = string;

/** Writes an origin the way the journal holds it. */
export function originKey({ framework, sdk, agentVersion }: Origin): OriginKey {
  return JSON.stringify([framework ?? null, sdk ?? null, agentVersion ?? null]);
}

/**
 * Reads an origin out of the journal.
 *
 * @throws SyntaxError when the text is not JSON
 */
export function parseOriginKey(key: OriginKey): Origin {
  const parts: unknown = JSON.parse(key);
  const [framework, sdk, agentVersion] = Array.isArray(parts) ? parts.map((part) => part ?? undefined) : [];
  return { framework, sdk, agentVersion };
}
