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

/** Records the calls found in messages, each once. */
export class MessageCalls {
  readonly #calls: AdapterCalls;

  constructor(calls: AdapterCalls) {
    this.#calls = calls;
  }

  /**
   * Handles a block written by the model: remembers calls, and records those that Anthropic has run.
   *
   * @param messages - the conversation before the block, if known
   */
  received(block: MessageBlock, sessionId: string | undefined, messages?: readonly unknown[]): void {
    const { id, name, input } = block;
    if (isToolUse(block) && id !== undefined && name !== undefined) {
      if (messages) this.#calls.conversations.note(messages, { toolName: name, callId: id }, sessionId);
      toolUses().add(id, { toolName: name, input, sessionId });
    } else if (isServerResult(block)) {
      this.#record(block.tool_use_id, serverOutcome(block));
    }
  }

  /** Handles a conversation sent to the model: records the results at its end that nothing else has recorded. */
  sent(messages: readonly AnyMessage[]): void {
    const { requested, results } = lastCalls(messages);
    for (const block of results) {
      const use = requested.find(({ id }) => id === block.tool_use_id);
      const known = use && toolUses().find(use.id as string);
      if (use && known?.input === undefined) this.received(use, known?.sessionId);
      this.#record(block.tool_use_id, clientOutcome(block, use?.name ?? known?.toolName));
    }
  }

  /**
   * Releases the inputs of results that have been sent, because they may be long. Called when the model has responded.
   */
  static taken(messages: readonly AnyMessage[]): void {
    for (const { tool_use_id: id = '' } of lastCalls(messages).results) {
      const use = toolUses().find(id);
      if (use) toolUses().add(id, { ...use, input: undefined });
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

/** Returns the model's last tool calls and their results. */
function lastCalls(messages: readonly AnyMessage[]) {
  const lastResponse = messages.findLastIndex(({ role }) => role === 'assistant');
  const results = messages.slice(lastResponse + 1).flatMap(blocksOf);
  return {
    requested: blocksOf(messages[lastResponse]),
    results: results.filter(({ type }) => type === 'tool_result'),
  };
}
