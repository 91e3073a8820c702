import type { AnyMessage, MessageBlock } from './message-blocks.ts';

/** Stream events that build the blocks of a message. */
interface StreamEvent {
  readonly type: string;
  readonly index?: number;
  readonly message?: AnyMessage;
  readonly content_block?: MessageBlock;
  readonly delta?: { readonly type?: string; readonly partial_json?: string };
}

/** A block of a streamed message. */
export interface StreamedBlock {
  readonly block: MessageBlock;
  /** `false` if the block has started and its input is incomplete. */
  readonly isWhole: boolean;
}

/**
 * Yields the blocks of a streamed message, each when it starts and when it is complete.
 *
 * @param begin - called with the message, without its blocks, when it starts
 */
export async function* streamedBlocks(
  events: AsyncIterable<StreamEvent>,
  begin: (message: AnyMessage) => void,
): AsyncGenerator<StreamedBlock> {
  const begun = new Map<number, { readonly block: MessageBlock; json: string }>();
  for await (const { type, index = -1, message, content_block, delta } of events) {
    const open = begun.get(index);
    if (type === 'message_start' && message) begin(message);
    else if (type === 'content_block_start' && content_block) {
      begun.set(index, { block: content_block, json: '' });
      yield { block: content_block, isWhole: false };
    } else if (type === 'content_block_delta' && open && delta?.type === 'input_json_delta') {
      open.json += delta.partial_json ?? '';
    } else if (type === 'content_block_stop' && open) {
      begun.delete(index);
      yield { block: { ...open.block, ...inputOf(open.json) }, isWhole: true };
    }
  }
}

function inputOf(json: string): Pick<MessageBlock, 'input'> | undefined {
  try {
    return json === '' ? undefined : { input: JSON.parse(json) };
  } catch {
    return undefined; // the response was truncated
  }
}
