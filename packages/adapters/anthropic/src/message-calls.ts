import type { AdapterCalls } from '@actlog/recorder/adapter';
import {
  type AnyMessage,
  blocksOf,
  clientOutcome,
  isServerResult,
  isToolUse,
  type MessageBlock,
  serverOutcome,
} from './message-blocks.ts';
import { toolUses } from './tool-uses.ts';

/** Records the calls that messages tell of, each once. */
export class MessageCalls {
  readonly #calls: AdapterCalls;

  constructor(calls: AdapterCalls) {
    this.#calls = calls;
  }

  /** A block that the model has written: remembers what it asks for, and records what Anthropic has run. */
  answered(block: MessageBlock, sessionId: string | undefined): void {
    const { id, name, input } = block;
    if (isToolUse(block) && id !== undefined && name !== undefined) {
      toolUses().add(id, { toolName: name, input, sessionId });
    } else if (isServerResult(block)) {
      this.#record(block.tool_use_id, serverOutcome(block));
    }
  }

  /** A conversation that is sent to the model: records the results at its end that nothing else recorded. */
  sent(messages: readonly AnyMessage[]): void {
    const answer = messages.findLastIndex(({ role }) => role === 'assistant');
    const asked = blocksOf(messages[answer]);
    for (const block of messages.slice(answer + 1).flatMap(blocksOf)) {
      if (block.type !== 'tool_result') continue;
      const use = asked.find(({ id }) => id === block.tool_use_id);
      if (use && !toolUses().find(use.id as string)) this.answered(use, undefined);
      this.#record(block.tool_use_id, clientOutcome(block));
    }
  }

  #record(id: string | undefined, outcome: ReturnType<typeof clientOutcome>): void {
    const use = id === undefined ? undefined : toolUses().find(id);
    if (id === undefined || !use || !outcome || !this.#calls.covers(use.toolName)) return;
    const { recorder } = this.#calls;
    if (!toolUses().claim(id, recorder)) return;
    const { toolName, input, sessionId } = use;
    const refused = toolUses().takeRefused(use, recorder);
    this.#calls.recordLate(
      { toolName, arguments: input, callId: id, sessionId },
      refused ? { ok: false, error: refused.error } : outcome,
    );
  }
}
