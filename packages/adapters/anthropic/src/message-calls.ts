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
    const { asked, results } = lastCalls(messages);
    for (const block of results) {
      const use = asked.find(({ id }) => id === block.tool_use_id);
      const known = use && toolUses().find(use.id as string);
      if (use && known?.input === undefined) this.answered(use, known?.sessionId);
      this.#record(block.tool_use_id, clientOutcome(block));
    }
  }

  /** A conversation that the model has answered: lets go of the inputs whose results were sent, which may be long. */
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

/** What the model asked for last, and the results that came of it. */
function lastCalls(messages: readonly AnyMessage[]) {
  const answer = messages.findLastIndex(({ role }) => role === 'assistant');
  const results = messages.slice(answer + 1).flatMap(blocksOf);
  return {
    asked: blocksOf(messages[answer]),
    results: results.filter(({ type }) => type === 'tool_result'),
  };
}
