import type { Part } from './response.ts';

/** The used part of a request to send a message. */
export interface MessageRequest {
  readonly message?: {
    readonly contextId?: string;
    readonly taskId?: string;
    readonly parts?: readonly Part[];
    readonly metadata?: object | undefined;
  };
  readonly metadata?: object | undefined;
}

/** Arguments of the call of an agent. Everything is omitted that the message lacks. */
interface MessageArguments {
  /** Text parts of the message, one per line. */
  text?: string;
  data?: unknown[];
  files?: { url?: string; bytes?: string; filename?: string; mediaType?: string }[];
  /** Task that the message continues. */
  taskId?: string;
  metadata?: object;
  requestMetadata?: object;
}

/**
 * Returns the arguments of a call: all that the other agent gets to read. Ids that differ in each message are left out,
 * so that the same message has the same hash.
 *
 * @param taskId - task that the message continues
 */
export function messageArguments(
  { message, metadata }: MessageRequest,
  taskId: string | undefined,
): MessageArguments {
  const parts = Array.isArray(message?.parts) ? (message.parts as readonly Part[]) : [];
  const args: MessageArguments = {};
  const texts: string[] = [];
  for (const { content, filename, mediaType } of parts) {
    if (content?.$case === 'text') texts.push(content.value);
    if (content?.$case === 'data') args.data = [...(args.data ?? []), content.value];
    if (content?.$case !== 'url' && content?.$case !== 'raw') continue;
    const place =
      content.$case === 'url'
        ? { url: content.value }
        : { bytes: Buffer.from(content.value).toString('base64') };
    args.files = [
      ...(args.files ?? []),
      { ...place, ...(filename && { filename }), ...(mediaType && { mediaType }) },
    ];
  }
  if (texts.length > 0) args.text = texts.join('\n');
  if (taskId) args.taskId = taskId;
  if (isFilled(message?.metadata)) args.metadata = message.metadata;
  if (isFilled(metadata)) args.requestMetadata = metadata;
  return args;
}

function isFilled(metadata: object | undefined | null): metadata is object {
  return typeof metadata === 'object' && metadata !== null && Object.keys(metadata).length > 0;
}
