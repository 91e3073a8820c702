/** Contents of messages: texts, or lists of parts of which some are texts. */
export interface ChatTexts {
  readonly user: unknown[];
  readonly system: unknown[];
}

/** Returns the contents that the user and the developer wrote in messages of the form `{ role, content }`. */
export function chatTexts(messages: unknown): ChatTexts {
  const user: unknown[] = [];
  const system: unknown[] = [];
  for (const message of Array.isArray(messages) ? messages : []) {
    const { role, content } = (message ?? {}) as { role?: unknown; content?: unknown };
    if (role === 'user') user.push(content);
    else if (role === 'system' || role === 'developer') system.push(content);
  }
  return { user, system };
}
