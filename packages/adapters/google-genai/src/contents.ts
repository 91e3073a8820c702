import { type AdapterCalls, noteTexts } from '@actlog/recorder/adapter';
import type { Content, ContentListUnion, ContentUnion, GenerateContentParameters } from '@google/genai';

/** Returns the messages of a request, which may also be one message, a text, or parts of one message. */
export function messagesOf(contents: ContentListUnion): Content[] {
  const items = Array.isArray(contents) ? contents : [contents];
  return isContent(items[0])
    ? (items as Content[])
    : [{ role: 'user', parts: partsOf(items as ContentUnion) as NonNullable<Content['parts']> }];
}

/** Notes the texts of the user and of the system instruction, for argument origins. */
export function noteRequest(
  calls: AdapterCalls,
  sessionId: string | undefined,
  { contents, config }: Pick<GenerateContentParameters, 'contents' | 'config'>,
): void {
  noteTexts(calls, () => ({
    sessionId,
    user: messagesOf(contents)
      .filter(({ role = 'user' }) => role === 'user')
      .map(({ parts }) => parts),
    system: [config?.systemInstruction && partsOf(config.systemInstruction)],
  }));
}

function isContent(value: unknown): value is Content {
  return typeof value === 'object' && value !== null && Array.isArray((value as Content).parts);
}

/** Returns the parts of a message in any of its forms; a text is a part too. */
export function partsOf(content: ContentUnion): unknown[] {
  if (isContent(content)) return content.parts ?? [];
  const parts = Array.isArray(content) ? content : [content];
  return parts.map((part) => (typeof part === 'string' ? { text: part } : part));
}
