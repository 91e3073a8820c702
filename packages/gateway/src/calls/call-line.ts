import type { ApprovedChange } from '@actlog/recorder';
import { metaKey } from '@actlog/recorder/adapter';
import { elementTexts, withValue } from '../messages/json-rpc.ts';
import type { CallDecision } from './open-call.ts';

/** Parts of a line of the client, when all of its calls are decided. */
export interface DecidedLine {
  /** Text for the server; undefined if none of its messages is forwarded. The very line if all are. */
  readonly forwarded: Buffer | undefined;
  /** Responses to the calls that are not. */
  readonly responses: readonly string[];
}

/** A line of the client with tool calls: it is forwarded when all of its calls are decided. */
export class CallLine {
  readonly isBatch: boolean;
  readonly #line: Buffer;
  readonly #decisions = new Map<number, CallDecision>();
  readonly #calls: number;
  readonly #decided: (line: DecidedLine) => void;

  /**
   * @param calls - number of its tool calls
   * @param decided - receives the parts, once
   */
  constructor(line: Buffer, isBatch: boolean, calls: number, decided: (line: DecidedLine) => void) {
    this.#line = line;
    this.isBatch = isBatch;
    this.#calls = calls;
    this.#decided = decided;
  }

  /** Records the decision about the message at an index. */
  decide(index: number, decision: CallDecision): void {
    this.#decisions.set(index, decision);
    if (this.#decisions.size === this.#calls) this.#decided(this.#parts());
  }

  #parts(): DecidedLine {
    const all = [...this.#decisions.values()];
    const responses = all.flatMap((decision) => (decision.runs ? [] : (decision.response ?? [])));
    const isUnchanged = all.every(
      (decision) => decision.runs && decision.announcements.length === 0 && !decision.change,
    );
    return { forwarded: isUnchanged ? this.#line : this.#changed(), responses };
  }

  #changed(): Buffer | undefined {
    const text = this.#line.toString();
    if (!this.isBatch) return this.#buffer(this.#element(text, 0));
    const kept = elementTexts(text).flatMap((element, index) => this.#element(element, index) ?? []);
    return kept.length === 0 ? undefined : this.#buffer(`[${kept.join(',')}]\n`);
  }

  #element(text: string, index: number): string | undefined {
    const decision = this.#decisions.get(index);
    if (decision?.runs === false) return undefined;
    const { announcements = [], change } = decision ?? {};
    const changed = change ? withChangedArguments(text, change) : text;
    return announcements.length === 0
      ? changed
      : withValue(changed, ['params', '_meta', metaKey], announcements);
  }

  #buffer(text: string | undefined): Buffer | undefined {
    return text === undefined ? undefined : Buffer.from(text);
  }
}

/** Returns a request with the arguments that an approver changed. All other characters stay as they are. */
function withChangedArguments(text: string, { arguments: args, changes }: ApprovedChange): string {
  return Object.keys(changes).reduce((request, path) => {
    const names = path.split('.');
    const value = names.reduce<unknown>((part, name) => (part as Record<string, unknown>)[name], args);
    return withValue(request, ['params', 'arguments', ...names], value);
  }, text);
}
