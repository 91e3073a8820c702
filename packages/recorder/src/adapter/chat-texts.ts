/** Contents of messages: texts, or lists of parts of which some are texts. */
export interface ChatTexts {
  readonly user: unknown[];
  readonly system: unknown[];
}

/** Returns the contents that the user and the developer wrote in messages `{ role, content }`, or `{ role, parts }`. */
export function chatTexts(messages: unknown): ChatTexts {
  const user: unknown[] = [];
  const system: unknown[] = [];
  for (const message of Array.isArray(messages) ? messages : []) {
    const { role, content, parts } = (message ?? {}) as Record<string, unknown>;
    if (role === 'user') user.push(content ?? parts);
    else if (role === 'system' || role === 'developer') system.push(content ?? parts);
  }
  return { user, system };
}
