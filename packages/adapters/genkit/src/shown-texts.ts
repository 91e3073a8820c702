interface Message {
  readonly role?: unknown;
  readonly content?: unknown;
}

interface Part {
  readonly metadata?: { readonly purpose?: unknown } | null;
}

/** Returns the parts of an author's messages, without those with which Genkit adds documents that it has found. */
export function contentsOf(messages: readonly unknown[], author: 'user' | 'system'): unknown[] {
  return (messages as readonly Message[])
    .filter(({ role }) => role === author)
    .map(({ content }) => (Array.isArray(content) ? content.filter(isOfAuthor) : content));
}

function isOfAuthor(part: Part | null | undefined): boolean {
  return part?.metadata?.purpose !== 'context';
}
